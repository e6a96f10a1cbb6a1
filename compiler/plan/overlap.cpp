// SPDX-License-Identifier: Apache-2.0
#include "plan/overlap.h"

#include <algorithm>

namespace aotc::plan {

OverlapLimits overlap_limits(const ops::WriteOrder& order, int64_t operand_bytes, int64_t result_bytes) {
  if (order.steps.empty()) return {-result_bytes, operand_bytes};
  // Backwards, with the hull of what this step and later ones read.
  int64_t low = operand_bytes, high = 0;
  OverlapLimits limits{operand_bytes, -result_bytes};
  for (size_t i = order.steps.size(); i-- > 0;) {
    const ops::WriteOrder::Step& s = order.steps[i];
    if (s.read_begin < s.read_end) {
      low = std::min(low, s.read_begin);
      high = std::max(high, s.read_end);
    }
    if (s.write_begin >= s.write_end || low >= high) continue;
    limits.forward = std::min(limits.forward, low - s.write_end);
    limits.backward = std::max(limits.backward, high - s.write_begin);
  }
  return limits;
}

}  // namespace aotc::plan
