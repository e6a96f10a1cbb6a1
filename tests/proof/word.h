// SPDX-License-Identifier: Apache-2.0
// Words of 32 bits as numbers.
#pragma once

#include <bit>
#include <cstdint>

namespace aotc::tests::proof {

inline constexpr int kWord = 32;  // bits

inline int32_t as_signed(uint32_t v) { return static_cast<int32_t>(v); }
inline float float_of_bits(uint32_t bits) { return std::bit_cast<float>(bits); }
inline uint32_t bits_of_float(float v) { return std::bit_cast<uint32_t>(v); }

// The bits that hold all values of a range, with the sign.
inline int signed_width(int64_t low, int64_t high) {
  int width = 1;
  while (low < -(int64_t{1} << (width - 1)) || high >= int64_t{1} << (width - 1)) ++width;
  return width;
}

}  // namespace aotc::tests::proof
