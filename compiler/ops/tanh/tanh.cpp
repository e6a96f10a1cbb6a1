// SPDX-License-Identifier: Apache-2.0
// tanh: the hyperbolic tangent.
#include <cmath>

#include "ops/common/elementwise.h"
#include "ops/common/real_table.h"
#include "ops/common/sigmoid_table.h"

namespace aotc::ops {

namespace {

float tangent(float x) { return std::tanh(x); }

class Tanh final : public UnaryElementwise {
 public:
  std::string_view name() const override { return "tanh"; }
  std::string_view summary() const override { return "hyperbolic tangent"; }
  Traits traits() const override { return {.elementwise = true, .uses_libm = true}; }
  std::vector<TypeSupport> types() const override {
    return {
        {DType::kI8, ""}, {DType::kU8, ""}, {DType::kI16, "result scale 1/32768, zero points 0"}, {DType::kF32, ""}};
  }
  Uint8 uint8_form(const OpView&) const override { return Uint8::kShifted; }

  Status verify(const OpView& op, Diagnostics& diags) const override {
    if (op.operand_count() > 0 && op.operand(0).dtype == DType::kI16)
      return verify_unary_quantized(op, diags) && check_sigmoid(op, Sigmoid::kTanh, diags) ? success()
                                                                                           : Status(kFailure);
    return verify_real_function(op, diags) ? success() : Status(kFailure);
  }

  void evaluate(const OpView& op, const EvalData& data) const override {
    if (op.operand(0).dtype == DType::kI16) return evaluate_unary_int(op, data, sigmoid_function(op, Sigmoid::kTanh));
    if (op.operand(0).dtype == DType::kF32) return evaluate_unary_float(data, tangent);
    evaluate_unary_int(op, data, quantized_function(op, tangent));
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    if (op.operand(0).dtype == DType::kI16) return lower_sigmoid(op, "tanh", Sigmoid::kTanh);
    if (op.operand(0).dtype == DType::kI8) return lower_byte_function(op, "tanh", quantized_function(op, tangent));
    return lower_unary(op, "tanh", [](tir::FunctionBuilder&, const tir::Ex& x) {
      return call(tir::Intrinsic::kTanh, DType::kF32, {x});
    });
  }
};

}  // namespace

void add_operators_tanh(OperatorSet& set) { set.add(std::make_unique<Tanh>()); }

}  // namespace aotc::ops
