// SPDX-License-Identifier: Apache-2.0
#include "support/numerics.h"

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

int32_t saturating_rounding_doubling_high_mul(int32_t a, int32_t b) {
  if (a == b && a == std::numeric_limits<int32_t>::min()) return std::numeric_limits<int32_t>::max();
  int64_t product = static_cast<int64_t>(a) * b;
  return static_cast<int32_t>((product + (int64_t{1} << 30)) >> 31);
}

int32_t rounding_divide_by_pot(int32_t x, int exponent) {
  if (exponent == 0) return x;
  int64_t half = int64_t{1} << (exponent - 1);
  return static_cast<int32_t>((static_cast<int64_t>(x) + half - (x < 0 ? 1 : 0)) >> exponent);
}

int32_t multiply_by_quantized_multiplier(int32_t x, QuantizedMultiplier m) {
  int left = m.shift > 0 ? m.shift : 0;
  int right = m.shift > 0 ? 0 : -m.shift;
  int32_t shifted = static_cast<int32_t>(static_cast<uint32_t>(x) << left);
  return rounding_divide_by_pot(saturating_rounding_doubling_high_mul(shifted, m.multiplier), right);
}

}  // namespace aotc
