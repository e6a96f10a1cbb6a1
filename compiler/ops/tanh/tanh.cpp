// SPDX-License-Identifier: Apache-2.0
// tanh: the hyperbolic tangent.
#include <cmath>

#include "ops/common/elementwise.h"
#include "ops/common/real_table.h"
#include "ops/common/sigmoid_table.h"
#include "ops/signature.h"

namespace aotc::ops {

namespace {

float tangent(float x) { return std::tanh(x); }

class Tanh final : public SpecifiedOperator {
 public:
  Tanh() : SpecifiedOperator(sigmoid_signature("tanh", "hyperbolic tangent")) {}

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

 protected:
  bool check(const OpView& op, Diagnostics& diags) const override { return check_sigmoid(op, Sigmoid::kTanh, diags); }
};

}  // namespace

void add_operators_tanh(OperatorSet& set) { set.add(std::make_unique<Tanh>()); }

}  // namespace aotc::ops
