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

}  // namespace aotc
