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
  std::string_view name() const override { return "broadcast_to"; }
  std::string_view summary() const override { return "a tensor repeated to a larger shape"; }
  std::shared_ptr<graph::AttributesBase> default_attributes() const override {
    return std::make_shared<BroadcastAttrs>();
  }

  Result<std::vector<graph::Shape>> infer(const OpView& op, Diagnostics& diags) const override {
    if (!check_counts(op, 1, 1, 1, diags)) return kFailure;
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

  std::optional<AxisFlow> axis_flow(const OpView& op) const override {
    return broadcast_axes({op.operand(0).shape}, op.result().shape);
  }
  SharedAttributes attributes_for_axes(const OpView& op, const Order& axes) const override {
    auto attributes = std::make_shared<BroadcastAttrs>();
    attributes->shape = ordered_shape(op.result().shape, axes);
    return attributes;
  }

 protected:
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
  std::string_view name() const override { return "broadcast_args"; }
  std::string_view summary() const override { return "the shape that two shapes broadcast to"; }
  std::vector<TypeSupport> types() const override { return constants_only({DType::kI32, DType::kI64}); }

  Result<std::vector<graph::Shape>> infer(const OpView& op, Diagnostics& diags) const override {
    if (!check_counts(op, 2, 2, 1, diags) || !check_rank(op, 0, 1, 1, diags) || !check_rank(op, 1, 1, 1, diags))
      return kFailure;
    return std::vector<graph::Shape>{{std::max(op.operand(0).shape[0], op.operand(1).shape[0])}};
  }

  Status verify(const OpView& op, Diagnostics& diags) const override {
    bool good = check_type(op, 0, {DType::kI32, DType::kI64}, diags) &&
                check_type(op, 1, {op.operand(0).dtype}, diags) && check_result_type(op, 0, op.operand(0).dtype, diags);
    if (!good) return kFailure;
    if (op.constant(0) == nullptr || op.constant(1) == nullptr) return success();
    graph::Shape common;
    if (common_shape(op, op.constant(0)->bytes, op.constant(1)->bytes, common)) return success();
    bad_shape(op, diags, "its operands are shapes that do not broadcast");
    return kFailure;
  }

  void evaluate(const OpView& op, const EvalData& data) const override {
    graph::Shape common;
    if (!common_shape(op, data.operands[0], data.operands[1], common)) return;
    narrow(op.result().dtype, common, data.results[0]);
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
