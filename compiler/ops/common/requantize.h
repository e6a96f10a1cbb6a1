// From an int32 accumulator to a quantised output: the arithmetic on the host and as TIR. The one
// thing to know: the emitted form is chosen from what is known at compile time (shift signs and the
// largest accumulator), and every form gives the reference's bits.
#pragma once

#include <vector>

#include "ops/common/activation.h"
#include "ops/lowering.h"
#include "support/numerics.h"

namespace aotc::ops {

enum class Rounding {
  kDouble,  // doubling high multiply rounds, then the shift rounds: convolutions
  kSingle,  // one rounding of the 64-bit product: LiteRT's fully connected
};

// (x * multiplier) / 2^(31 - shift), rounded once, half up.
int32_t multiply_single_rounding(int32_t x, QuantizedMultiplier m);

inline int32_t apply_multiplier(int32_t x, QuantizedMultiplier m, Rounding rounding) {
  return rounding == Rounding::kDouble ? multiply_by_quantized_multiplier(x, m)
                                       : multiply_single_rounding(x, m);
}

// input_scale * weight_scale[c] / output_scale for each of `channels` (weights per tensor: all
// the same).
std::vector<QuantizedMultiplier> conv_multipliers(const graph::TensorType& input,
                                                  const graph::TensorType& weights,
                                                  const graph::TensorType& output,
                                                  int64_t channels);

// Emits requantisation of accumulators whose magnitude is at most `largest`.
class Requantizer {
 public:
  // Adds the constant tables to the function: one entry each, or one per channel if they differ.
  Requantizer(LoweringBuilder& f, const std::vector<QuantizedMultiplier>& multipliers,
              Rounding rounding, int64_t largest, int32_t zero_point, ClampI32 clamp, DType out);

  // The quantised value (clamped) of accumulator `acc` of channel `channel`, as i32. Statements
  // that it needs go to `f`.
  tir::Ex emit(tir::FunctionBuilder& f, const tir::Ex& acc, const tir::Ex& channel) const;

 private:
  struct Parameters {
    tir::Ex multiplier, shift;
  };
  Parameters parameters(tir::FunctionBuilder& f, const tir::Ex& channel) const;

  std::vector<QuantizedMultiplier> multipliers_;
  Rounding rounding_;
  int32_t zero_point_;
  ClampI32 clamp_;
  DType out_;
  bool per_channel_ = false;
  bool any_left_ = false;
  bool any_right_ = false;
  bool right_at_least_one_ = true;
  bool sum_fits_ = true;  // t + 2^(s-1) cannot leave int32
  tir::BufferPtr multiplier_table_, shift_table_;
};

// Emits multiply_by_quantized_multiplier of `x` (magnitude at most `largest`) by a constant.
tir::Ex emit_multiply(tir::FunctionBuilder& f, const tir::Ex& x, QuantizedMultiplier m,
                      int64_t largest);

}  // namespace aotc::ops
