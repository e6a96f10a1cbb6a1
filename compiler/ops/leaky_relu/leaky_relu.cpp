// SPDX-License-Identifier: Apache-2.0
// leaky_relu: x where it is positive, alpha * x elsewhere.
#include <algorithm>
#include <cmath>

#include "ops/common/checks.h"
#include "ops/common/elementwise.h"
#include "ops/common/lut.h"
#include "ops/common/scaler.h"
#include "ops/leaky_relu/attributes.h"
#include "ops/signature.h"

namespace aotc::ops {

namespace {

using tir::Ex;

// Float32 quotients, as the reference has them.
struct Reals {
  double positive, negative;
  explicit Reals(const OpView& op) {
    float in = op.operand(0).scale(), out = op.result().scale();
    float leak = in * op.attrs<LeakyReluAttrs>().alpha;
    float quotient = in / out;
    float leak_quotient = leak / out;
    positive = static_cast<double>(quotient);
    negative = static_cast<double>(leak_quotient);
  }
};

class LeakyRelu final : public SpecifiedOperator {
 public:
  LeakyRelu()
      : SpecifiedOperator(
            {.name = "leaky_relu",
             .summary = "x if x > 0, else alpha * x",
             .operands = {{.name = "x",
                           .types = {DType::kI8, DType::kU8, {DType::kI16, "zero points 0"}, DType::kF32}}},
             .results = {{.name = "y"}},
             .quantized = Quantized::kSymmetric,
             .uint8 = Uint8::kShifted,
             .traits = {.elementwise = true},
             .attributes = make_attributes<LeakyReluAttrs>,
             .ranges = {finite<&LeakyReluAttrs::alpha>("alpha")}}) {}

  void evaluate(const OpView& op, const EvalData& data) const override {
    if (op.operand(0).dtype != DType::kF32) return evaluate_unary_int(op, data, quantized(op));
    evaluate_unary_float(data,
                         [alpha = op.attrs<LeakyReluAttrs>().alpha](float x) { return x > 0.0f ? x : x * alpha; });
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    if (op.operand(0).dtype == DType::kI8) return lower_byte_function(op, "leaky_relu", quantized(op));
    if (op.operand(0).dtype == DType::kI16) {
      Reals reals(op);
      return lower_scaled(op, "leaky_relu", {reals.negative, reals.positive}, {-32768, 32767});
    }
    return lower_unary(op, "leaky_relu", [&](tir::FunctionBuilder&, const Ex& x) {
      return select(x > tir::f32(0.0f), x, x * tir::f32(op.attrs<LeakyReluAttrs>().alpha));
    });
  }

 protected:
  bool check(const OpView& op, Diagnostics& diags) const override {
    if (op.operand(0).dtype == DType::kF32) return true;
    Reals reals(op);
    int64_t largest = op.operand(0).dtype == DType::kI8 ? 255 : 32768;
    return check_multiplier(op, reals.positive, largest, diags) &&
           check_multiplier(op, std::abs(reals.negative), largest, diags);
  }

 private:
  static ByteFunction quantized(const OpView& op) {
    Reals reals(op);
    QuantizedMultiplier positive = quantize_multiplier(reals.positive);
    QuantizedMultiplier negative = quantize_multiplier(std::abs(reals.negative));
    bool flips = reals.negative < 0.0;
    int32_t zero_in = op.operand(0).zero_point(), zero_out = op.result().zero_point();
    IntRange range = int_range(op.result().dtype);
    return [=](int64_t x) -> int64_t {
      auto d = static_cast<int32_t>(x - zero_in);
      int64_t y = multiply_by_quantized_multiplier(d, d >= 0 ? positive : negative);
      if (d < 0 && flips) y = -y;
      return std::clamp<int64_t>(y + zero_out, range.min, range.max);
    };
  }
};

}  // namespace

void add_operators_leaky_relu(OperatorSet& set) { set.add(std::make_unique<LeakyRelu>()); }

}  // namespace aotc::ops
