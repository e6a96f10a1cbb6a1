// SPDX-License-Identifier: Apache-2.0
// tanh: the hyperbolic tangent.
#include <cmath>

#include "ops/common/elementwise.h"
#include "ops/common/real_table.h"

namespace aotc::ops {

namespace {

float tangent(float x) { return std::tanh(x); }

class Tanh final : public UnaryElementwise {
 public:
  std::string_view name() const override { return "tanh"; }
  std::string_view summary() const override { return "hyperbolic tangent"; }
  Traits traits() const override { return {.elementwise = true, .uses_libm = true}; }
  std::vector<TypeSupport> types() const override { return {{DType::kI8, ""}, {DType::kF32, ""}}; }
  std::vector<int> tflite_builtins() const override { return {28}; }

  Status verify(const OpView& op, Diagnostics& diags) const override {
    return verify_real_function(op, diags) ? success() : Status(kFailure);
  }

  void evaluate(const OpView& op, const EvalData& data) const override {
    if (op.operand(0).dtype == DType::kF32) return evaluate_unary_float(data, tangent);
    evaluate_unary_int(op, data, quantized_function(op, tangent));
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    if (op.operand(0).dtype == DType::kI8)
      return lower_byte_function(op, "tanh", quantized_function(op, tangent));
    return lower_unary(op, "tanh", [](tir::FunctionBuilder&, const tir::Ex& x) {
      return call(tir::Intrinsic::kTanh, DType::kF32, {x});
    });
  }
};

}  // namespace

void add_operators_tanh(OperatorSet& set) { set.add(std::make_unique<Tanh>()); }

}  // namespace aotc::ops
