// SPDX-License-Identifier: Apache-2.0
// resize_nearest_neighbor: each pixel of the result is a pixel of the operand (NHWC). Which one is
// a matter of float32 rounding, so it is worked out here for every row and column; the emitted code
// reads tables, or no tables at all where rows and columns repeat a whole number of times.
#include <algorithm>
#include <cmath>

#include "ops/common/movement.h"
#include "ops/common/resize.h"
#include "ops/signature.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

// Source index of every result index along one axis.
std::vector<int32_t> sources(int64_t in, int64_t out, const ResizeAttrs& attrs) {
  bool align = attrs.align_corners && out > 1;
  float ratio = align ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                      : static_cast<float>(in) / static_cast<float>(out);
  float offset = attrs.half_pixel_centers ? 0.5f : 0.0f;
  std::vector<int32_t> table;
  for (int64_t i = 0; i < out; ++i) {
    float position = (static_cast<float>(i) + offset) * ratio;
    float at = attrs.align_corners ? std::round(position) : std::floor(position);
    table.push_back(static_cast<int32_t>(std::min(static_cast<int64_t>(at), in - 1)));
  }
  return table;
}

// How often each source index is repeated in turn, or 0 if the table is not of that form.
int64_t repeats(const std::vector<int32_t>& table, int64_t in) {
  auto out = static_cast<int64_t>(table.size());
  if (out % in != 0) return 0;
  int64_t times = out / in;
  for (int64_t i = 0; i < out; ++i)
    if (table[static_cast<size_t>(i)] != i / times) return 0;
  return times;
}

struct Geometry {
  int64_t batch, in_h, in_w, out_h, out_w, channels;
  std::vector<int32_t> rows, columns;
};

Geometry geometry_of(const OpView& op) {
  const graph::Shape& in = op.operand(0).shape;
  const auto& attrs = op.attrs<ResizeAttrs>();
  return {in[0],
          in[1],
          in[2],
          attrs.height,
          attrs.width,
          in[3],
          sources(in[1], attrs.height, attrs),
          sources(in[2], attrs.width, attrs)};
}

class ResizeNearestNeighbor final : public SpecifiedOperator, public Fusable {
 public:
  ResizeNearestNeighbor()
      : SpecifiedOperator({.name = "resize_nearest_neighbor",
                           .summary = "image of another size, nearest pixel, NHWC",
                           .operands = {{.name = "x", .types = movable_types(), .ranks = {4, 4}, .moved = true}},
                           .results = {{.name = "y"}},
                           .shapes = Shapes::kOwn,
                           .uint8 = Uint8::kEither,
                           .attributes = make_attributes<ResizeAttrs>}) {}

  void evaluate(const OpView& op, const EvalData& data) const override {
    Geometry g = geometry_of(op);
    int64_t bytes = g.channels * size_of(op.operand(0).dtype);
    uint8_t* to = data.results[0].data();
    for (int64_t n = 0; n < g.batch; ++n)
      for (int32_t y : g.rows)
        for (int32_t x : g.columns) {
          std::copy_n(data.operands[0].data() + ((n * g.in_h + y) * g.in_w + x) * bytes, bytes, to);
          to += bytes;
        }
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    Geometry g = geometry_of(op);
    int64_t vertical = repeats(g.rows, g.in_h), horizontal = repeats(g.columns, g.in_w);
    return vertical > 0 && horizontal > 0 ? lower_repeats(op, g, vertical, horizontal) : lower_tables(op, g);
  }

  bool is_identity(const OpView& op) const override {
    Geometry g = geometry_of(op);
    return repeats(g.rows, g.in_h) == 1 && repeats(g.columns, g.in_w) == 1;
  }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    return infer_resize(op, diags);
  }

 private:
  // Widens each row once, and copies what it gave.
  static Lowered lower_repeats(const OpView& op, const Geometry& g, int64_t vertical, int64_t horizontal) {
    LoweringBuilder f(op, "resize_nearest_neighbor");
    BufferPtr in = f.operand(0), out = f.result();
    int64_t in_row = g.in_w * g.channels, out_row = g.out_w * g.channels;
    f.loop("row", 0, g.batch * g.in_h, [&](Ex row) {
      Ex from = f.let("from", row * in_row);
      Ex to = f.let("to", row * (out_row * vertical));
      if (horizontal == 1) {
        emit_run(f, out, to, in, from, in_row);
      } else {
        f.loop("x", 0, g.in_w, [&](Ex x) {
          Ex pixel = f.let("pixel", from + x * g.channels);
          f.loop("i", 0, horizontal,
                 [&](Ex i) { emit_run(f, out, to + (x * horizontal + i) * g.channels, in, pixel, g.channels); });
        });
      }
      f.loop("i", 1, vertical, [&](Ex i) { emit_run(f, out, to + i * out_row, out, to, out_row); });
    });
    return f.finish("repeated rows and pixels");
  }

  static Lowered lower_tables(const OpView& op, const Geometry& g) {
    LoweringBuilder f(op, "resize_nearest_neighbor");
    BufferPtr in = f.operand(0), out = f.result();
    auto scaled = [](std::vector<int32_t> table, int64_t factor) {
      for (int32_t& v : table) v = static_cast<int32_t>(v * factor);
      return table;
    };
    BufferPtr rows = f.constant("rows", DType::kI32, scaled(g.rows, g.in_w * g.channels));
    BufferPtr columns = f.constant("columns", DType::kI32, scaled(g.columns, g.channels));
    f.loop("n", 0, g.batch, [&](Ex n) {
      f.loop("y", 0, g.out_h, [&](Ex y) {
        Ex from = f.let("from", n * (g.in_h * g.in_w * g.channels) + load(rows, y));
        Ex to = f.let("to", (n * g.out_h + y) * (g.out_w * g.channels));
        f.loop("x", 0, g.out_w, [&](Ex x) {
          Ex pixel = f.let("pixel", from + load(columns, x));
          emit_run(f, out, to + x * g.channels, in, pixel, g.channels);
        });
      });
    });
    return f.finish("tables of rows and columns");
  }
};

}  // namespace

void add_operators_resize_nearest_neighbor(OperatorSet& set) { set.add(std::make_unique<ResizeNearestNeighbor>()); }

}  // namespace aotc::ops
