// SPDX-License-Identifier: Apache-2.0
#include "support/numerics.h"

#include <bit>
#include <cmath>
#include <limits>

namespace aotc {

QuantizedMultiplier quantize_multiplier(double real) {
  if (real == 0.0) return {0, 0};
  int shift = 0;
  double fraction = std::frexp(real, &shift);
  int64_t fixed = static_cast<int64_t>(std::round(fraction * static_cast<double>(int64_t{1} << 31)));
  if (fixed == (int64_t{1} << 31)) {
    fixed /= 2;
    ++shift;
  }
  if (shift < -31) return {0, 0};
  if (shift > 30) return {std::numeric_limits<int32_t>::max(), 30};
  return {static_cast<int32_t>(fixed), shift};
}

float half_to_float(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half >> 15) << 31;
  const uint32_t exponent = (half >> 10) & 31, mantissa = half & 1023;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000 | mantissa << 13);
  if (exponent > 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  float subnormal = std::ldexp(static_cast<float>(mantissa), -24);
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(subnormal));
}

}  // namespace aotc
