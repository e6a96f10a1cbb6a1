// SPDX-License-Identifier: Apache-2.0
// broadcast_to: a tensor repeated to a larger shape; broadcast_args: the shape that two shapes have
// in common.
#include <algorithm>

#include <fmt/format.h>

#include "ops/broadcast_to/attributes.h"
#include "ops/common/affine_map.h"
#include "ops/common/broadcast.h"
#include "ops/common/checks.h"
#include "ops/common/constants_only.h"
#include "ops/common/elementwise.h"

namespace aotc::ops {

namespace {

// Where its dimensions are constant, as they must be for the result to have a shape.
class BroadcastTo final : public RearrangeOperator, public Transposable {
 public:
  BroadcastTo()
      : RearrangeOperator({.name = "broadcast_to",
                           .summary = "a tensor repeated to a larger shape",
                           .operands = {{.name = "x", .types = movable_types(), .moved = true}},
                           .results = {{.name = "y"}},
                           .shapes = Shapes::kOwn,
                           .uint8 = Uint8::kEither,
                           .attributes = make_attributes<BroadcastAttrs>}) {}

  std::optional<AxisFlow> axis_flow(const OpView& op) const override {
    return broadcast_axes({op.operand(0).shape}, op.result().shape);
  }
  SharedAttributes attributes_for_axes(const OpView& op, const Order& axes) const override {
    auto attributes = std::make_shared<BroadcastAttrs>();
    attributes->shape = ordered_shape(op.result().shape, axes);
    return attributes;
  }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    const graph::Shape& shape = op.attrs<BroadcastAttrs>().shape;
    graph::Shape common;
    bool possible = std::all_of(shape.begin(), shape.end(), [](int64_t d) { return d >= 0 && d <= INT32_MAX; });
    if (possible && broadcast_shapes(op.operand(0).shape, shape, common) && common == shape)
      return std::vector<graph::Shape>{shape};
    bad_shape(op, diags,
              fmt::format("shape {} does not broadcast to {}", graph::to_string(op.operand(0).shape),
                          graph::to_string(shape)));
    return kFailure;
  }

  AffineMap map_of(const OpView& op) const override {
    const graph::Shape& in = op.operand(0).shape;
    const graph::Shape& out = op.result().shape;
    std::vector<int64_t> from = strides_of(in), to = strides_of(out);
    size_t added = out.size() - in.size();
    AffineMap map;
    for (size_t i = 0; i < out.size(); ++i)
      map.add_axis(out[i], to[i], i < added || in[i - added] == 1 ? 0 : from[i - added]);
    return map;
  }
};

class BroadcastArgs final : public ConstantsOnly {
 public:
  BroadcastArgs()
      : ConstantsOnly({.name = "broadcast_args",
                       .summary = "the shape that two shapes broadcast to",
                       .operands = {{.name = "a", .types = {DType::kI32, DType::kI64}, .ranks = {1, 1}},
                                    {.name = "b", .same_type_as = 0, .ranks = {1, 1}}},
                       .results = {{.name = "shape"}},
                       .shapes = Shapes::kOwn}) {}

  void evaluate(const OpView& op, const EvalData& data) const override {
    graph::Shape common;
    if (!common_shape(op, data.operands[0], data.operands[1], common)) return;
    narrow(op.result().dtype, common, data.results[0]);
  }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics&) const override {
    return std::vector<graph::Shape>{{std::max(op.operand(0).shape[0], op.operand(1).shape[0])}};
  }

  bool check(const OpView& op, Diagnostics& diags) const override {
    if (op.constant(0) == nullptr || op.constant(1) == nullptr) return true;
    graph::Shape common;
    return common_shape(op, op.constant(0)->bytes, op.constant(1)->bytes, common) ||
           bad_shape(op, diags, "its operands are shapes that do not broadcast");
  }

 private:
  static bool common_shape(const OpView& op, std::span<const uint8_t> a, std::span<const uint8_t> b,
                           graph::Shape& out) {
    return broadcast_shapes(widen(op.operand(0).dtype, a), widen(op.operand(1).dtype, b), out);
  }
};

}  // namespace

void add_operators_broadcast_to(OperatorSet& set) {
  set.add(std::make_unique<BroadcastTo>());
  set.add(std::make_unique<BroadcastArgs>());
}

}  // namespace aotc::ops
