// SPDX-License-Identifier: Apache-2.0
// logistic: 1 / (1 + exp(-x)).
#include <cmath>

#include "ops/common/elementwise.h"
#include "ops/common/real_table.h"
#include "ops/common/sigmoid_table.h"
#include "ops/signature.h"

namespace aotc::ops {

namespace {

using tir::Ex;
using tir::f32;
using tir::Intrinsic;

// Beyond these the reference leaves out what float32 cannot hold.
constexpr float kOneAbove = 16.619047164916992188f;
constexpr float kExpBelow = -9.0f;

class Logistic final : public SpecifiedOperator {
 public:
  Logistic() : SpecifiedOperator(sigmoid_signature("logistic", "1 / (1 + exp(-x))")) {}

  void evaluate(const OpView& op, const EvalData& data) const override {
    if (op.operand(0).dtype == DType::kI16)
      return evaluate_unary_int(op, data, sigmoid_function(op, Sigmoid::kLogistic));
    if (op.operand(0).dtype == DType::kI8) return evaluate_unary_int(op, data, quantized_function(op, plain));
    evaluate_unary_float(data, [](float x) {
      if (x > kOneAbove) return 1.0f;
      return x < kExpBelow ? std::exp(x) : plain(x);
    });
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    if (op.operand(0).dtype == DType::kI16) return lower_sigmoid(op, "logistic", Sigmoid::kLogistic);
    if (op.operand(0).dtype == DType::kI8) return lower_byte_function(op, "logistic", quantized_function(op, plain));
    return lower_unary(op, "logistic", [](tir::FunctionBuilder&, const Ex& x) {
      auto exp = [](const Ex& v) { return call(Intrinsic::kExp, DType::kF32, {v}); };
      Ex plain = f32(1.0f) / (f32(1.0f) + exp(-x));
      return select(x > f32(kOneAbove), f32(1.0f), select(x < f32(kExpBelow), exp(x), plain));
    });
  }

 protected:
  bool check(const OpView& op, Diagnostics& diags) const override {
    return check_sigmoid(op, Sigmoid::kLogistic, diags);
  }

 private:
  static float plain(float x) { return 1.0f / (1.0f + std::exp(-x)); }
};

}  // namespace

void add_operators_logistic(OperatorSet& set) { set.add(std::make_unique<Logistic>()); }

}  // namespace aotc::ops
