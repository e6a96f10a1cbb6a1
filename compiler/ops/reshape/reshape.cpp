// SPDX-License-Identifier: Apache-2.0
// reshape: the operand's elements in the same order under another shape; a view, so it costs
// nothing. RESHAPE, SQUEEZE and EXPAND_DIMS are all this operator: what they differ in is how a
// file states the new shape, and that is settled at import.
#include <algorithm>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/movement.h"
#include "ops/reshape/attributes.h"
#include "ops/signature.h"

namespace aotc::ops {

namespace {

// Product of the dimensions; -1 if one is negative or the product is larger than `most`.
int64_t count_up_to(const graph::Shape& shape, int64_t most) {
  int64_t count = 1;
  for (int64_t d : shape) {
    if (d < 0 || (d > 0 && count > most / d)) return -1;
    count *= d;
  }
  return count;
}

class Reshape final : public SpecifiedOperator, public Transposable, public Prunable {
 public:
  Reshape()
      : SpecifiedOperator(
            {.name = "reshape",
             .summary = "another shape for the same elements (RESHAPE, SQUEEZE, EXPAND_DIMS); costs nothing",
             .operands = {{.name = "x", .types = movable_types(), .moved = true}},
             .results = {{.name = "y"}},
             .shapes = Shapes::kOwn,
             .uint8 = Uint8::kEither,
             .traits = {.view = true},
             .attributes = make_attributes<ReshapeAttrs>}) {}

  void evaluate(const OpView&, const EvalData& data) const override {
    std::copy(data.operands[0].begin(), data.operands[0].end(), data.results[0].begin());
  }

  std::optional<AxisFlow> axis_flow(const OpView& op) const override {
    return shared_axes(op.operand(0).shape, op.result().shape);
  }
  SharedAttributes attributes_for_axes(const OpView& op, const Order& axes) const override {
    auto attributes = std::make_shared<ReshapeAttrs>();
    attributes->shape = ordered_shape(op.result().shape, dimension_order(axis_flow(op)->results[0], axes));
    return attributes;
  }

  ChannelFlow channel_flow(const OpView& op) const override {
    const graph::Shape& from = op.operand(0).shape;
    const graph::Shape& to = op.result().shape;
    bool same = !from.empty() && !to.empty() && from.back() == to.back();
    return same && op.operand(0).dtype == DType::kI8 ? ChannelFlow::kEach : ChannelFlow::kOpaque;
  }
  ChannelRanges channel_ranges(const OpView&, const std::vector<ChannelRanges>& operands) const override {
    return operands[0];
  }
  SharedAttributes attributes_for_channels(const OpView& op, int64_t channels) const override {
    auto attributes = std::make_shared<ReshapeAttrs>(op.attrs<ReshapeAttrs>());
    attributes->shape.back() = channels;
    return attributes;
  }

  // A view has no code of its own; this is the copy for who asks nevertheless.
  Lowered lower(const OpView& op, const TargetInfo&) const override {
    LoweringBuilder f(op, "reshape");
    tir::BufferPtr in = f.operand(0), out = f.result();
    f.copy(out, 0, in, 0, in->elements);
    return f.finish("copy");
  }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    const graph::Shape& shape = op.attrs<ReshapeAttrs>().shape;
    int64_t elements = op.operand(0).elements();
    if (count_up_to(shape, elements) != elements) {
      bad_shape(op, diags,
                fmt::format("{} elements (shape {}) cannot take the shape {}", elements,
                            graph::to_string(op.operand(0).shape), graph::to_string(shape)));
      return kFailure;
    }
    return std::vector<graph::Shape>{shape};
  }
};

}  // namespace

void add_operators_reshape(OperatorSet& set) { set.add(std::make_unique<Reshape>()); }

}  // namespace aotc::ops
