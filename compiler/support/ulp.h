// SPDX-License-Identifier: Apache-2.0
// Computes the distance of two floats in units in the last place (ULP). Two NaNs have distance 0, and so have 0.0 and
// -0.0. A NaN and a number have distance INT64_MAX.
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
