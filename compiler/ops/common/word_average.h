// SPDX-License-Identifier: Apache-2.0
// WordAverage: the average of int16 elements by onnxruntime's rule, as one product of 64 bits. Ties go up.
#pragma once

#include <cmath>
#include <cstdint>

namespace aotc::ops {

// True if averages of `count` elements have the form below. `real`: steps of the result for one step of the sum.
inline bool averages_by_word(double real, int64_t count) {
  return count < int64_t{1} << 15 && real >= 0x1p-18 && real * static_cast<double>(count) < 0x1p14;
}

// An average is (sum * multiplier + start) >> shift, before it is clamped. It fits in 32 bits.
struct WordAverage {
  int64_t multiplier, start;
  int shift;

  // Zero points are those of operand and result. Requires averages_by_word.
  WordAverage(double real, int64_t count, int64_t zero_in, int64_t zero_out) {
    constexpr int kBits = 28;  // products and zero points then fit in 62 bits
    shift = kBits - static_cast<int>(std::floor(std::log2(real)));
    multiplier = std::llround(std::ldexp(real, shift));
    start = zero_out * (int64_t{1} << shift) + (int64_t{1} << (shift - 1)) - count * zero_in * multiplier;
  }
  int32_t of(int64_t sum) const { return static_cast<int32_t>((sum * multiplier + start) >> shift); }
};

}  // namespace aotc::ops
