// SPDX-License-Identifier: Apache-2.0
// resize_bilinear: each pixel of the result is a weighted sum of four of the operand (NHWC). Which ones,
// and by how much, is worked out here for every row and column, as the reference rounds it: int8 and
// int16 in fixed point with 10 bits behind the point, float32 and uint8 in float32, to which 0.0 or for
// uint8 0.5 is added in the end (so there is no -0).
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/elementwise.h"
#include "ops/common/resize.h"
#include "ops/signature.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

constexpr int64_t kOne = 1 << 10;

bool is_fixed(const OpView& op) { return op.operand(0).dtype == DType::kI8 || op.operand(0).dtype == DType::kI16; }

// For every result index along one axis: two source indices, and what part the second one has.
struct Places {
  std::vector<int32_t> lower, upper;
  std::vector<int32_t> fixed;  // of kOne
  std::vector<float> real;
};

void fixed_places(int64_t in, int64_t out, const ResizeAttrs& attrs, Places& places) {
  bool align = attrs.align_corners && out > 1;
  int64_t scale = align ? (kOne * (in - 1) + (out - 1) / 2) / (out - 1) : (kOne * in + out / 2) / out;
  for (int64_t i = 0; i < out; ++i) {
    int64_t at = i * scale + (attrs.half_pixel_centers ? scale / 2 - kOne / 2 : 0);
    int64_t lower = std::max<int64_t>(at / kOne, 0);
    places.lower.push_back(static_cast<int32_t>(lower));
    places.upper.push_back(static_cast<int32_t>(std::min((at + kOne - 1) / kOne, in - 1)));
    places.fixed.push_back(static_cast<int32_t>(at - lower * kOne));
  }
}

void real_places(int64_t in, int64_t out, const ResizeAttrs& attrs, Places& places) {
  bool align = attrs.align_corners && out > 1;
  float scale = align ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                      : static_cast<float>(in) / static_cast<float>(out);
  for (int64_t i = 0; i < out; ++i) {
    auto position = static_cast<float>(i);
    float at = attrs.half_pixel_centers ? (position + 0.5f) * scale - 0.5f : position * scale;
    int32_t lower = std::max(static_cast<int32_t>(std::floor(at)), 0);
    places.lower.push_back(lower);
    places.upper.push_back(static_cast<int32_t>(std::min<int64_t>(static_cast<int64_t>(std::ceil(at)), in - 1)));
    places.real.push_back(at - static_cast<float>(lower));
  }
}

Places places_of(const OpView& op, int64_t in, int64_t out) {
  Places places;
  const auto& attrs = op.attrs<ResizeAttrs>();
  is_fixed(op) ? fixed_places(in, out, attrs, places) : real_places(in, out, attrs, places);
  return places;
}

class ResizeBilinear final : public SpecifiedOperator, public Fusable {
 public:
  ResizeBilinear()
      : SpecifiedOperator(
            {.name = "resize_bilinear",
             .summary = "image of another size, bilinear, NHWC",
             .operands = {{.name = "x", .types = {DType::kI8, DType::kF32, DType::kI16, DType::kU8}, .ranks = {4, 4}}},
             .results = {{.name = "y"}},
             .shapes = Shapes::kOwn,
             .quantized = Quantized::kCopied,
             .attributes = make_attributes<ResizeAttrs>}) {}

  void evaluate(const OpView& op, const EvalData& data) const override {
    if (is_fixed(op)) {
      std::vector<int64_t> in = widen(op.operand(0).dtype, data.operands[0]), out;
      interpolate<int64_t>(op, in, out, [](const Corner<int64_t>& c, int64_t y, int64_t x) {
        int64_t sum = c.x00 * (kOne - y) * (kOne - x) + c.x10 * y * (kOne - x) + c.x01 * (kOne - y) * x + c.x11 * y * x;
        return (sum + (sum > 0 ? 1 : -1) * (1 << 19)) / (1 << 20);
      });
      return narrow(op.operand(0).dtype, out, data.results[0]);
    }
    bool bytes = op.operand(0).dtype == DType::kU8;
    std::vector<float> in, out;
    if (bytes) in.assign(data.operands[0].begin(), data.operands[0].end());
    else in.assign(data.in<float>(0).begin(), data.in<float>(0).end());
    float last = bytes ? 0.5f : 0.0f;
    interpolate<float>(op, in, out, [&](const Corner<float>& c, float y, float x) {
      return c.x00 * (1 - y) * (1 - x) + c.x10 * y * (1 - x) + c.x01 * (1 - y) * x + c.x11 * y * x + last;
    });
    for (size_t i = 0; i < out.size(); ++i)
      if (bytes) data.results[0][i] = static_cast<uint8_t>(out[i]);
      else data.out<float>()[i] = out[i];
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override;

  bool is_identity(const OpView& op) const override {
    const auto& attrs = op.attrs<ResizeAttrs>();
    const graph::Shape& in = op.operand(0).shape;
    // Weights of 0 make zeros of what is not a number.
    return op.operand(0).dtype != DType::kF32 && in[1] == attrs.height && in[2] == attrs.width;
  }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    return infer_resize(op, diags);
  }

  bool check(const OpView& op, Diagnostics& diags) const override {
    const auto& attrs = op.attrs<ResizeAttrs>();
    if (attrs.align_corners && attrs.half_pixel_centers) {
      bad_attribute(op, diags, "align_corners and half_pixel_centers exclude each other");
      return false;
    }
    const graph::Shape& in = op.operand(0).shape;
    for (auto [size, wanted] : {std::pair(in[1], attrs.height), std::pair(in[2], attrs.width)}) {
      // What the reference adds up in 32 bits, and where its rounding leaves the image.
      bool possible = size <= INT32_MAX / kOne / 2;
      if (possible) {
        Places places = places_of(op, size, wanted);
        possible = *std::max_element(places.lower.begin(), places.lower.end()) < size && (size + 1) * kOne < INT32_MAX;
      }
      if (possible) continue;
      bad_attribute(op, diags,
                    fmt::format("resizing {} to {} pixels leaves the image, as the reference rounds", size, wanted));
      return false;
    }
    return true;
  }

 private:
  // xYX: y of the lower or upper row, x of the left or right column.
  template <typename T>
  struct Corner {
    T x00, x01, x10, x11;
  };

  template <typename T, typename F>
  static void interpolate(const OpView& op, const std::vector<T>& in, std::vector<T>& out, F value) {
    const graph::Shape& shape = op.operand(0).shape;
    const graph::Shape& wanted = op.result().shape;
    Places rows = places_of(op, shape[1], wanted[1]), columns = places_of(op, shape[2], wanted[2]);
    auto part = [](const Places& p, size_t i) {
      if constexpr (std::is_same_v<T, float>) return p.real[i];
      else return static_cast<T>(p.fixed[i]);
    };
    for (int64_t n = 0; n < shape[0]; ++n)
      for (size_t y = 0; y < rows.lower.size(); ++y)
        for (size_t x = 0; x < columns.lower.size(); ++x)
          for (int64_t c = 0; c < shape[3]; ++c) {
            auto at = [&](int32_t row, int32_t column) {
              return in[static_cast<size_t>(((n * shape[1] + row) * shape[2] + column) * shape[3] + c)];
            };
            out.push_back(value({at(rows.lower[y], columns.lower[x]), at(rows.lower[y], columns.upper[x]),
                                 at(rows.upper[y], columns.lower[x]), at(rows.upper[y], columns.upper[x])},
                                part(rows, y), part(columns, x)));
          }
  }
};

// One row or column as the emitted code sees it.
struct PlaceTables {
  BufferPtr lower, upper, part;

  PlaceTables(LoweringBuilder& f, const Places& places, const std::string& name, int64_t stride) {
    auto scaled = [&](std::vector<int32_t> v) {
      for (int32_t& i : v) i = static_cast<int32_t>(i * stride);
      return v;
    };
    lower = f.constant(name + "_lower", DType::kI32, scaled(places.lower));
    upper = f.constant(name + "_upper", DType::kI32, scaled(places.upper));
    part = places.fixed.empty() ? f.constant(name + "_part", DType::kF32, places.real)
                                : f.constant(name + "_part", DType::kI32, places.fixed);
  }
};

Lowered ResizeBilinear::lower(const OpView& op, const TargetInfo&) const {
  const graph::Shape& in_shape = op.operand(0).shape;
  const graph::Shape& shape = op.result().shape;
  int64_t channels = in_shape[3];
  bool fixed = is_fixed(op), wide = op.operand(0).dtype == DType::kI16;
  LoweringBuilder f(op, "resize_bilinear");
  BufferPtr in = f.operand(0);
  PlaceTables rows(f, places_of(op, in_shape[1], shape[1]), "row", in_shape[2] * channels);
  PlaceTables columns(f, places_of(op, in_shape[2], shape[2]), "column", channels);
  BufferPtr out = f.result();
  auto whole = [&](const Ex& v) { return wide ? cast(DType::kI64, v) : v; };
  auto number = [&](int64_t v) { return wide ? tir::i64(v) : Ex(v); };
  f.loop("n", 0, shape[0], [&](Ex n) {
    Ex image = f.let("image", n * (in_shape[1] * in_shape[2] * channels));
    f.loop("y", 0, shape[1], [&](Ex y) {
      Ex top = f.let("top", image + load(rows.lower, y)), bottom = f.let("bottom", image + load(rows.upper, y));
      Ex dy = f.let("dy", load(rows.part, y));
      f.loop("x", 0, shape[2], [&](Ex x) {
        Ex left = f.let("left", load(columns.lower, x)), right = f.let("right", load(columns.upper, x));
        Ex dx = f.let("dx", load(columns.part, x));
        Ex to = f.let("to", ((n * shape[1] + y) * shape[2] + x) * channels);
        auto pixel = [&](const Ex& row, const Ex& column, const Ex& c) {
          Ex v = load(in, row + column + c);
          return fixed ? whole(v) : v.type() == DType::kF32 ? v : cast(DType::kF32, v);
        };
        if (!fixed) {
          Ex y1 = f.let("uy", tir::f32(1.0f) - dy), x1 = f.let("ux", tir::f32(1.0f) - dx);
          f.loop("c", 0, channels, [&](Ex c) {
            Ex v = pixel(top, left, c) * y1 * x1 + pixel(bottom, left, c) * dy * x1 + pixel(top, right, c) * y1 * dx +
                   pixel(bottom, right, c) * dy * dx + tir::f32(out->dtype == DType::kF32 ? 0.0f : 0.5f);
            f.store(out, to + c, out->dtype == DType::kF32 ? v : cast(DType::kI32, v));
          });
          return;
        }
        Ex w00 = f.let("w00", whole((kOne - dy) * (kOne - dx))), w10 = f.let("w10", whole(dy * (kOne - dx)));
        Ex w01 = f.let("w01", whole((kOne - dy) * dx)), w11 = f.let("w11", whole(dy * dx));
        f.loop("c", 0, channels, [&](Ex c) {
          Ex sum = f.let("sum", pixel(top, left, c) * w00 + pixel(bottom, left, c) * w10 + pixel(top, right, c) * w01 +
                                    pixel(bottom, right, c) * w11);
          Ex half = select(sum > number(0), number(1 << 19), number(-(1 << 19)));
          Ex v = (sum + half) / number(1 << 20);
          f.store(out, to + c, wide ? cast(DType::kI32, v) : v);
        });
      });
    });
  });
  return f.finish(fixed ? "fixed point" : "float");
}

}  // namespace

void add_operators_resize_bilinear(OperatorSet& set) { set.add(std::make_unique<ResizeBilinear>()); }

}  // namespace aotc::ops
