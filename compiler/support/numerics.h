// SPDX-License-Identifier: Apache-2.0
// Fixed-point arithmetic of quantised inference, exactly as LiteRT's reference kernels define it.
// A real multiplier is stored as a Q31 mantissa and a power-of-two exponent: real ~ multiplier * 2^(shift - 31).
#pragma once

#include <cstdint>
#include <limits>

namespace aotc {

struct QuantizedMultiplier {
  int32_t multiplier = 0;  // 0, or a magnitude from 2^30 to 2^31
  int shift = 0;           // > 0: left shift, < 0: right shift
};

// Converts a finite `real`; the mantissa is rounded to 31 bits, half away from zero. An exponent below -31 gives
// multiplier 0; an exponent above 30 gives the largest multiplier and shift.
QuantizedMultiplier quantize_multiplier(double real);

// floor((a * b + 2^30) / 2^31), saturated for a = b = INT32_MIN (gemmlowp's
// SaturatingRoundingDoublingHighMul).
inline int32_t saturating_rounding_doubling_high_mul(int32_t a, int32_t b) {
  if (a == b && a == std::numeric_limits<int32_t>::min()) return std::numeric_limits<int32_t>::max();
  int64_t product = static_cast<int64_t>(a) * b;
  return static_cast<int32_t>((product + (int64_t{1} << 30)) >> 31);
}

// x / 2^exponent rounded to nearest, ties away from zero; exponent in [0, 31].
inline int32_t rounding_divide_by_pot(int32_t x, int exponent) {
  if (exponent == 0) return x;
  int64_t half = int64_t{1} << (exponent - 1);
  return static_cast<int32_t>((static_cast<int64_t>(x) + half - (x < 0 ? 1 : 0)) >> exponent);
}

// Returns x times the multiplier, rounded twice: the doubling high multiply rounds, then the right shift rounds. The
// left shift wraps, as in LiteRT's reference kernels.
inline int32_t multiply_by_quantized_multiplier(int32_t x, QuantizedMultiplier m) {
  int left = m.shift > 0 ? m.shift : 0;
  int right = m.shift > 0 ? 0 : -m.shift;
  int32_t shifted = static_cast<int32_t>(static_cast<uint32_t>(x) << left);
  return rounding_divide_by_pot(saturating_rounding_doubling_high_mul(shifted, m.multiplier), right);
}

// Converts the bits of a float16 to float32 exactly. The mantissa bits of a NaN become the top bits of the float32
// mantissa.
float half_to_float(uint16_t half);

}  // namespace aotc
