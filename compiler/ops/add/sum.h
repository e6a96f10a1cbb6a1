// SPDX-License-Identifier: Apache-2.0
// The lowering of quantised add and sub. The one thing to know: a sum of int8 is first looked for as a weighted
// one that is right for all pairs (ops/common/affine.h), and a target with a kernel for those derives from the class.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "ops/common/affine.h"
#include "ops/common/scaler.h"
#include "ops/operator.h"

namespace aotc::ops {

// The fixed-point form of a sum: both operands go to 2^20 (int16: 2^15) times a common scale, twice
// the larger of theirs; the sum is scaled to the result.
struct Sum {
  int headroom;
  std::array<int32_t, 2> zero;
  std::array<double, 2> in_real;
  std::array<QuantizedMultiplier, 2> in;
  double out_real;
  QuantizedMultiplier out;
  int32_t zero_out;
  ClampI32 clamp;

  explicit Sum(const OpView& op);

  int32_t operand(size_t i, int64_t q) const {
    auto shifted = static_cast<int32_t>((q - zero[i]) * (1 << headroom));
    return multiply_by_quantized_multiplier(shifted, in[i]);
  }
  int64_t result(int32_t sum) const {
    int64_t v = multiply_by_quantized_multiplier(sum, out);
    return std::clamp<int64_t>(v + zero_out, clamp.min, clamp.max);
  }
  // The operand of the larger scale has multiplier one half: a shift.
  bool only_shifts(size_t i) const { return in[i].multiplier == 1 << 30 && in[i].shift == 0; }
};

// onnxruntime's sum of bytes: float32 with fused multiply-adds, the result's zero point added before
// the only rounding to a whole number, ties to even. Operands and results are int8; float32 rounds otherwise where the
// model's values are uint8, `up` above them.
struct FloatSum {
  int32_t up;
  std::array<float, 2> ratio;
  float fixed;
  ClampI32 clamp;

  explicit FloatSum(const OpView& op);
  // The part that operand b has in it.
  float part(int64_t b) const;
  // Bounds of the sum, in the model's type.
  float least() const { return static_cast<float>(clamp.min + up); }
  float most() const { return static_cast<float>(clamp.max + up); }
  int64_t operator()(int64_t a, int64_t b) const;
};

class SumLowering {
 public:
  SumLowering(const OpView& op, const std::string& name, bool subtract)
      : op_(op), subtract_(subtract), sum_(op), f_(op, name) {}
  virtual ~SumLowering() = default;

  Lowered run();

 protected:
  // The whole function for a weighted sum, where a kernel does it.
  virtual std::optional<Lowered> run_kernel(const AffineForm&) { return std::nullopt; }
  // The clamp is nothing but the saturation of bytes.
  bool saturates() const { return sum_.clamp.min == -128 && sum_.clamp.max == 127; }

  const OpView& op_;
  bool subtract_;
  Sum sum_;
  LoweringBuilder f_;

 private:
  std::optional<AffineForm> affine() const;
  Lowered run_affine(const AffineForm& form);
  std::vector<int8_t> wanted() const;
  Lowered run_float();

  Parameters p_;
};

}  // namespace aotc::ops
