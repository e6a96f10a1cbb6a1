// SPDX-License-Identifier: Apache-2.0
// Distance of two floats in units in the last place. Two NaNs are equal; a NaN and a number have the largest distance;
// 0.0 and -0.0 are equal.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace aotc {

inline int64_t ulp_distance(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) == std::isnan(b) ? 0 : INT64_MAX;
  auto ordered = [](float v) {
    int32_t bits;
    std::memcpy(&bits, &v, 4);
    return bits < 0 ? -static_cast<int64_t>(bits & 0x7FFFFFFF) : static_cast<int64_t>(bits);
  };
  return std::abs(ordered(a) - ordered(b));
}

}  // namespace aotc
