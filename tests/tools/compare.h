// SPDX-License-Identifier: Apache-2.0
// Compares a result with what LiteRT computed: bytes, or floats within a bound in units in the last
// place. Two NaNs are equal; 0.0 and -0.0 are one apart from nothing.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>

#include <fmt/format.h>

#include "support/dtype.h"
#include "support/ulp.h"

namespace aotc::tests {

// Empty if equal within `ulp` (0: bit for bit), else the first difference. Any NaN equals any other: no
// processor promises its sign.
inline std::string difference(std::span<const uint8_t> have, std::span<const uint8_t> want, DType dtype, int64_t ulp) {
  if (have.size() != want.size()) return fmt::format("{} bytes, expected {}", have.size(), want.size());
  size_t step = static_cast<size_t>(size_of(dtype));
  for (size_t i = 0; i < have.size(); i += step) {
    if (std::memcmp(&have[i], &want[i], step) == 0) continue;
    if (dtype == DType::kF32) {
      float a, b;
      std::memcpy(&a, &have[i], 4);
      std::memcpy(&b, &want[i], 4);
      int64_t d = ulp_distance(a, b);
      if ((ulp > 0 && d <= ulp) || (std::isnan(a) && std::isnan(b))) continue;
      return fmt::format("element {}: {} instead of {} ({} ulp)", i / step, a, b, d);
    }
    int64_t a = 0, b = 0;
    std::memcpy(&a, &have[i], step);
    std::memcpy(&b, &want[i], step);
    if (dtype == DType::kI8) a = static_cast<int8_t>(a), b = static_cast<int8_t>(b);
    if (dtype == DType::kI16) a = static_cast<int16_t>(a), b = static_cast<int16_t>(b);
    if (dtype == DType::kI32) a = static_cast<int32_t>(a), b = static_cast<int32_t>(b);
    return fmt::format("element {}: {} instead of {}", i / step, a, b);
  }
  return "";
}

}  // namespace aotc::tests
