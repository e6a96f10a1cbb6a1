// SPDX-License-Identifier: Apache-2.0
// add_n: the sum of two or more tensors of one shape, added in order. Each float sum is held in the finite
// numbers, as that of two operands without an activation.
#include "ops/common/activation.h"
#include "ops/common/lowered_evaluation.h"
#include "ops/signature.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

constexpr size_t kMostOperands = 256;

class AddN final : public SpecifiedOperator, public Transposable {
 public:
  AddN()
      : SpecifiedOperator({.name = "add_n",
                           .summary = "the sum of several tensors",
                           .operands = {{.name = "x", .types = {DType::kF32, {DType::kI32, "wraps around"}}},
                                        {.name = "more", .same_type_as = 0}},
                           .results = {{.name = "y"}},
                           .most_operands = kMostOperands,
                           .shapes = Shapes::kEqual}) {}

  std::optional<AxisFlow> axis_flow(const OpView& op) const override {
    return same_axes(op.operand_count(), 1, op.result().shape.size());
  }

  void evaluate(const OpView& op, const EvalData& data) const override { evaluate_lowering(op, data); }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    LoweringBuilder f(op, "add_n");
    std::vector<BufferPtr> in;
    for (size_t i = 0; i < op.operand_count(); ++i) in.push_back(f.operand(i));
    BufferPtr out = f.result();
    bool is_float = op.operand(0).dtype == DType::kF32;
    f.loop("i", 0, out->elements, [&](Ex i) {
      Ex sum = load(in[0], i);
      for (size_t k = 1; k < in.size(); ++k) {
        Ex x = load(in[k], i);
        sum = is_float ? emit_clamp(f.let("sum", sum + x), float_clamp(Activation::kNone)) : add_wrapping(sum, x);
      }
      f.store(out, i, sum);
    });
    for (size_t i = 0; i < in.size(); ++i)
      if (!op.constant(i)) f.publish_in_place(static_cast<int>(i));
    return f.finish("flat loop");
  }
};

}  // namespace

void add_operators_add_n(OperatorSet& set) { set.add(std::make_unique<AddN>()); }

}  // namespace aotc::ops
