// SPDX-License-Identifier: Apache-2.0
// Scales of fixed point formats: powers of two.
#pragma once

#include <cmath>
#include <optional>

namespace aotc::ops {

// log2 of a scale where that is a whole number, as nearly as the reference looks at it.
inline std::optional<int> whole_log2(float scale) {
  float log2 = std::log(scale) * (1.0f / std::log(2.0f));
  float whole = std::round(log2);
  if (!(std::abs(log2 - whole) < 1e-3f)) return std::nullopt;
  return static_cast<int>(whole);
}

}  // namespace aotc::ops
