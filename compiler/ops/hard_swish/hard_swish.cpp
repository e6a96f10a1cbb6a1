// SPDX-License-Identifier: Apache-2.0
// hard_swish: x * relu6(x + 3) / 6. For int8 the reference works in 16-bit fixed point; with 256
// inputs that arithmetic runs at compile time only.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "ops/common/elementwise.h"
#include "ops/common/lut.h"
#include "ops/signature.h"

namespace aotc::ops {

namespace {

using tir::Ex;
using tir::f32;

int64_t wrap16(int64_t x) { return static_cast<int16_t>(static_cast<uint64_t>(x)); }
int64_t saturate16(int64_t x) { return std::clamp<int64_t>(x, INT16_MIN, INT16_MAX); }

// Doubling high multiply of 16-bit numbers; the division truncates.
int64_t high_mul16(int64_t a, int64_t b) {
  if (a == INT16_MIN && b == INT16_MIN) return INT16_MAX;
  int64_t product = a * b;
  return (product + (product >= 0 ? 1 << 14 : 1 - (1 << 14))) / (1 << 15);
}

// Rounds to nearest, ties away from zero, as long as the exponent is below 16; the 16-bit mask then
// degenerates, which is part of the reference's result.
int64_t rounding_shift16(int64_t x, int exponent) {
  int64_t mask = wrap16((int64_t{1} << exponent) - 1);
  int64_t threshold = wrap16((mask >> 1) + (x < 0 ? 1 : 0));
  return wrap16((x >> exponent) + (wrap16(x & mask) > threshold ? 1 : 0));
}

int64_t halve_multiplier(int32_t multiplier) {
  if (multiplier >= INT32_MAX - (1 << 15)) return INT16_MAX;
  return (multiplier + (1 << 15)) >> 16;
}

struct FixedPoint {
  float out_real, gate_real;
  explicit FixedPoint(const OpView& op) {
    float fine = (1.0f / 128.0f) * op.operand(0).scale();
    constexpr float kGateScale = 3.0f / 32768.0f;
    out_real = fine / op.result().scale();
    gate_real = fine / kGateScale;
  }
};

class HardSwish final : public SpecifiedOperator {
 public:
  HardSwish()
      : SpecifiedOperator({.name = "hard_swish",
                           .summary = "x * relu6(x + 3) / 6",
                           .operands = {{.name = "x", .types = {DType::kI8, DType::kU8, DType::kF32}}},
                           .results = {{.name = "y"}},
                           .quantized = Quantized::kPerTensor,
                           .uint8 = Uint8::kShifted,
                           .traits = {.elementwise = true}}) {}

  void evaluate(const OpView& op, const EvalData& data) const override {
    if (op.operand(0).dtype == DType::kI8) return evaluate_unary_int(op, data, quantized(op));
    evaluate_unary_float(data, [](float x) { return x * std::min(6.0f, std::max(0.0f, x + 3.0f)) / 6.0f; });
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    if (op.operand(0).dtype == DType::kI8) return lower_byte_function(op, "hard_swish", quantized(op));
    return lower_unary(op, "hard_swish", [](tir::FunctionBuilder& f, const Ex& x) {
      // std::max(0, v) is 0 < v ? v : 0, so NaN gives 0 here and comes back with the product.
      Ex gate = f.let("gate", min(max(x + f32(3.0f), f32(0.0f)), f32(6.0f)));
      return x * gate / f32(6.0f);
    });
  }

 protected:
  bool check(const OpView& op, Diagnostics& diags) const override {
    if (op.operand(0).dtype == DType::kF32) return true;
    FixedPoint real(op);
    if (std::isfinite(real.out_real) && std::isfinite(real.gate_real) &&
        quantize_multiplier(static_cast<double>(real.out_real)).shift <= 0)
      return true;
    diags
        .error(op.where(), "op-quantization",
               fmt::format("result scale {:g} of hard_swish is below 1/128 of the operand's {:g}", op.result().scale(),
                           op.operand(0).scale()))
        .help("the reference refuses that as well; re-quantise the model");
    return false;
  }

 private:
  static ByteFunction quantized(const OpView& op) {
    FixedPoint real(op);
    QuantizedMultiplier out = quantize_multiplier(static_cast<double>(real.out_real));
    QuantizedMultiplier gate = quantize_multiplier(static_cast<double>(real.gate_real));
    int64_t out_multiplier = halve_multiplier(out.multiplier);
    int64_t gate_multiplier = halve_multiplier(gate.multiplier);
    int64_t zero_in = op.operand(0).zero_point(), zero_out = op.result().zero_point();
    return [=](int64_t x) {
      int64_t d = (x - zero_in) * 128;
      int64_t scaled = high_mul16(d, out_multiplier);
      // 32768 * relu6(x + 3) / 6
      int64_t g = d;
      if (gate.shift > 0) g = saturate16(g * (int64_t{1} << (gate.shift - 1)));
      g = high_mul16(g, gate_multiplier);
      if (gate.shift > 0) g = saturate16(g * 2);
      if (gate.shift < 0) g = rounding_shift16(g, -gate.shift);
      g = (g + (1 << 15)) >> 1;
      int64_t product = g * scaled / (1 << 15);
      int64_t y = wrap16(rounding_shift16(product, -out.shift) + zero_out);
      return std::clamp<int64_t>(y, -128, 127);
    };
  }
};

}  // namespace

void add_operators_hard_swish(OperatorSet& set) { set.add(std::make_unique<HardSwish>()); }

}  // namespace aotc::ops
