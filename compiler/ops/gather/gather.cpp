// SPDX-License-Identifier: Apache-2.0
// gather: slices of a tensor along an axis, in the order that a list of indices gives. Leading
// dimensions may be a batch, in which each slice of the operand has indices of its own.
// embedding_lookup: the same of rows, with the list in front.
#include <algorithm>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/movement.h"
#include "ops/gather/attributes.h"
#include "ops/gather/indices.h"
#include "ops/signature.h"

namespace aotc::ops {

namespace {

int64_t product(const graph::Shape& shape, size_t from, size_t to) {
  int64_t out = 1;
  for (size_t i = from; i < to; ++i) out *= shape[i];
  return out;
}

class Gather final : public SpecifiedOperator {
 public:
  Gather()
      : SpecifiedOperator({.name = "gather",
                           .summary = "slices along an axis, by their indices",
                           .operands = {{.name = "x", .types = movable_types(), .moved = true}, {.name = "indices"}},
                           .results = {{.name = "y"}},
                           .shapes = Shapes::kOwn,
                           .uint8 = Uint8::kEither,
                           .traits = {.may_fail = true},
                           .attributes = make_attributes<GatherAttrs>}) {}

  void evaluate(const OpView& op, const EvalData& data) const override {
    Sizes s(op);
    auto offsets = offsets_of(op, data, s.tuples);
    if (!offsets) return clear_results(data);
    int64_t bytes = s.inner * size_of(op.operand(0).dtype);
    auto to = data.results[0].begin();
    for (int64_t row = 0; row < s.batches * s.outer; ++row)
      for (int64_t i = 0; i < s.each; ++i) {
        int64_t index = (*offsets)[static_cast<size_t>(row / s.outer * s.each + i)];
        auto from = data.operands[0].begin() + (row * s.axis * s.inner + index) * size_of(op.operand(0).dtype);
        to = std::copy(from, from + bytes, to);
      }
  }

  // An index is checked once, for all slices of its batch.
  Lowered lower(const OpView& op, const TargetInfo&) const override {
    Sizes s(op);
    LoweringBuilder f(op, "gather");
    tir::BufferPtr in = f.operand(0), indices = f.operand(1), out = f.result();
    f.loop("batch", 0, s.batches, [&](tir::Ex batch) {
      f.loop("i", 0, s.each, [&](tir::Ex i) {
        tir::Ex from = f.let(
            "from", batch * (s.outer * s.axis * s.inner) + emit_offset(f, op, indices, s.tuples, batch * s.each + i));
        tir::Ex to = f.let("to", (batch * (s.outer * s.each) + i) * s.inner);
        f.loop("o", 0, s.outer, [&](tir::Ex o) {
          emit_run(f, out, to + o * (s.each * s.inner), in, from + o * (s.axis * s.inner), s.inner);
        });
      });
    });
    return f.finish("copy");
  }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    size_t axis = 0, batch = 0;
    if (!positions(op, axis, batch, diags)) return kFailure;
    const graph::Shape& in = op.operand(0).shape;
    const graph::Shape& indices = op.operand(1).shape;
    auto at = [](const graph::Shape& s, size_t i) { return s.begin() + static_cast<std::ptrdiff_t>(i); };
    graph::Shape shape(in.begin(), at(in, axis));
    shape.insert(shape.end(), at(indices, batch), indices.end());
    shape.insert(shape.end(), at(in, axis + 1), in.end());
    return std::vector<graph::Shape>{shape};
  }

  bool check(const OpView& op, Diagnostics& diags) const override { return check_indices(op, Sizes(op).tuples, diags); }

 private:
  // batches x outer x axis x inner elements, and `each` indices a batch.
  struct Sizes {
    explicit Sizes(const OpView& op) {
      const graph::Shape& in = op.operand(0).shape;
      auto at = static_cast<size_t>(op.attrs<GatherAttrs>().axis);
      auto batch = static_cast<size_t>(op.attrs<GatherAttrs>().batch_dims);
      batches = product(in, 0, batch);
      outer = product(in, batch, at);
      axis = in[at];
      inner = product(in, at + 1, in.size());
      each = product(op.operand(1).shape, batch, op.operand(1).shape.size());
      tuples = {1, {axis}, {inner}};
    }
    int64_t batches, outer, axis, inner, each;
    Tuples tuples;
  };

  static bool positions(const OpView& op, size_t& axis, size_t& batch, Diagnostics& diags) {
    const auto& attrs = op.attrs<GatherAttrs>();
    const graph::Shape& in = op.operand(0).shape;
    const graph::Shape& indices = op.operand(1).shape;
    auto within = [](int32_t value, size_t most) { return value >= 0 && static_cast<size_t>(value) <= most; };
    bool good = attrs.axis >= 0 && static_cast<size_t>(attrs.axis) < in.size() &&
                within(attrs.batch_dims, static_cast<size_t>(attrs.axis)) && within(attrs.batch_dims, indices.size());
    if (!good)
      return bad_attribute(op, diags,
                           fmt::format("axis {} and {} batch dimensions of shapes {} and {}", attrs.axis,
                                       attrs.batch_dims, graph::to_string(in), graph::to_string(indices)));
    axis = static_cast<size_t>(attrs.axis);
    batch = static_cast<size_t>(attrs.batch_dims);
    for (size_t i = 0; i < batch; ++i)
      if (in[i] != indices[i])
        return bad_shape(op, diags,
                         fmt::format("shapes {} and {} differ in batch dimension {}", graph::to_string(in),
                                     graph::to_string(indices), i));
    return true;
  }
};

class EmbeddingLookup final : public SpecifiedOperator {
 public:
  EmbeddingLookup()
      : SpecifiedOperator({.name = "embedding_lookup",
                           .summary = "rows of a table, by their indices",
                           .operands = {{.name = "indices", .types = {DType::kI32}, .ranks = {1, 1}},
                                        {.name = "table", .types = movable_types(), .ranks = {2}, .moved = true}},
                           .results = {{.name = "rows", .type_of = 1}},
                           .principal = 1,
                           .shapes = Shapes::kOwn,
                           .traits = {.may_fail = true}}) {}

  void evaluate(const OpView& op, const EvalData& data) const override {
    auto offsets = offsets_of(op, data, tuples_of(op));
    if (!offsets) return clear_results(data);
    int64_t size = size_of(op.result().dtype);
    auto to = data.results[0].begin();
    for (int64_t offset : *offsets) {
      auto from = data.operands[1].begin() + offset * size;
      to = std::copy(from, from + row_of(op) * size, to);
    }
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    LoweringBuilder f(op, "embedding_lookup");
    tir::BufferPtr indices = f.operand(0), table = f.operand(1), out = f.result();
    f.loop("i", 0, op.operand(0).elements(), [&](tir::Ex i) {
      tir::Ex from = f.let("from", emit_offset(f, op, indices, tuples_of(op), i));
      emit_run(f, out, i * row_of(op), table, from, row_of(op));
    });
    return f.finish("copy");
  }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics&) const override {
    graph::Shape shape = op.operand(1).shape;
    shape[0] = op.operand(0).shape[0];
    return std::vector<graph::Shape>{shape};
  }

  bool check(const OpView& op, Diagnostics& diags) const override { return check_indices(op, tuples_of(op), diags); }

 private:
  static int64_t row_of(const OpView& op) { return product(op.operand(1).shape, 1, op.operand(1).shape.size()); }
  static Tuples tuples_of(const OpView& op) { return {0, {op.operand(1).shape[0]}, {row_of(op)}}; }
};

}  // namespace

void add_operators_gather(OperatorSet& set) {
  set.add(std::make_unique<Gather>());
  set.add(std::make_unique<EmbeddingLookup>());
  add_gather_nd(set);
  add_scatter_nd(set);
  add_dynamic_update_slice(set);
  add_one_hot(set);
  add_reverse_sequence(set);
  add_segments(set);
}

}  // namespace aotc::ops
