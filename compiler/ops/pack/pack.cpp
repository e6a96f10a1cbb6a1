// SPDX-License-Identifier: Apache-2.0
// pack: stacks equal tensors along a new axis; unpack: takes one axis apart, one result an index.
#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/movement.h"
#include "ops/common/pieces.h"
#include "ops/pack/attributes.h"

namespace aotc::ops {

namespace {

// The axis within `rank` dimensions; attributes do not count from the end.
bool axis_of(const OpView& op, size_t rank, size_t& axis, Diagnostics& diags) {
  int32_t value = op.attrs<PackAttrs>().axis;
  if (value < 0) return bad_attribute(op, diags, fmt::format("axis {} is negative", value));
  return normalize_axis(op, value, rank, axis, diags);
}

// The stacked tensor as rows: each part's row is what lies inside the axis.
Parts parts_of(const OpView& op, const graph::Shape& stacked) {
  AxisView v = view_at(stacked, static_cast<size_t>(op.attrs<PackAttrs>().axis));
  return {v.outer, std::vector<int64_t>(static_cast<size_t>(v.axis), v.inner)};
}

class Pack final : public SpecifiedOperator {
 public:
  Pack()
      : SpecifiedOperator(
            {.name = "pack",
             .summary = "stacks equal tensors along a new axis",
             .operands = {{.name = "x", .types = movable_types("LiteRT has no kernel for it"), .moved = true}},
             .results = {{.name = "y"}},
             .most_operands = kMostParts,
             .shapes = Shapes::kEqual,
             .uint8 = Uint8::kEither,
             .attributes = make_attributes<PackAttrs>}) {}

  void evaluate(const OpView& op, const EvalData& data) const override {
    join_parts(parts_of(op, op.result().shape), data.operands, data.results[0], size_of(op.result().dtype));
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    return lower_join(op, parts_of(op, op.result().shape));
  }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    Result<std::vector<graph::Shape>> parts = SpecifiedOperator::shapes(op, diags);
    if (!parts) return kFailure;
    graph::Shape shape = (*parts)[0];
    size_t axis = 0;
    if (!axis_of(op, shape.size() + 1, axis, diags)) return kFailure;
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), static_cast<int64_t>(op.operand_count()));
    return std::vector<graph::Shape>{shape};
  }
};

class Unpack final : public SpecifiedOperator, public TakesPieces {
 public:
  Unpack()
      : SpecifiedOperator({.name = "unpack",
                           .summary = "takes a tensor apart along an axis",
                           .operands = {{.name = "x", .types = movable_types(), .moved = true}},
                           .results = {{.name = "part"}},
                           .any_results = true,
                           .shapes = Shapes::kOwn,
                           .uint8 = Uint8::kEither,
                           .attributes = make_attributes<PackAttrs>}) {}

  void evaluate(const OpView& op, const EvalData& data) const override {
    split_parts(parts_of(op, op.operand(0).shape), data.operands[0], data.results, size_of(op.operand(0).dtype));
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    return lower_split(op, parts_of(op, op.operand(0).shape));
  }

  std::optional<std::vector<int64_t>> pieces(const OpView& op) const override {
    return pieces_of(parts_of(op, op.operand(0).shape));
  }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    size_t count = op.op.results.size(), axis = 0;
    graph::Shape shape = op.operand(0).shape;
    if (!axis_of(op, shape.size(), axis, diags)) return kFailure;
    if (shape[axis] != static_cast<int64_t>(count) || count > kMostParts) {
      bad_shape(op, diags,
                fmt::format("dimension {} of {} is taken apart into {} results (at most {})", axis,
                            graph::to_string(shape), count, kMostParts));
      return kFailure;
    }
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
    return std::vector<graph::Shape>(count, shape);
  }
};

}  // namespace

void add_operators_pack(OperatorSet& set) {
  set.add(std::make_unique<Pack>());
  set.add(std::make_unique<Unpack>());
}

}  // namespace aotc::ops
