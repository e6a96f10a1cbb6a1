// SPDX-License-Identifier: Apache-2.0
#include "ops/common/affine.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "ops/common/pair_budget.h"

namespace aotc::ops {

namespace {

constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();

// Offsets for which every pair comes out as wanted: [least, most], empty if least > most.
struct OffsetRange {
  int64_t least = -kLargest, most = kLargest;
};

// Which first operands are looked at first. Weights that do not fit mostly fail at the same pairs as
// those before, so what showed that comes to the front, and the next failure costs a few rows.
class Rows {
 public:
  Rows() {
    // Far apart: the bits of the index in reverse.
    for (uint32_t i = 0; i < 256; ++i)
      for (uint32_t bit = 0; bit < 8; ++bit) order_[i] |= (i >> bit & 1) << (7 - bit);
  }
  uint32_t operator[](size_t i) const { return order_[i]; }
  void to_front(size_t i) { std::rotate(order_.begin(), order_.begin() + i, order_.begin() + i + 1); }

 private:
  std::array<uint32_t, 256> order_{};
};

OffsetRange offsets_for(const std::vector<int8_t>& wanted, int64_t ka, int64_t kb, int shift, ClampI32 clamp,
                        Rows& rows) {
  OffsetRange range;
  size_t least_at = 0, most_at = 0;  // which rows the range is from
  const int64_t unit = int64_t{1} << shift;
  for (size_t i = 0; i < 256; ++i) {
    PairBudget::spend(256);
    const OffsetRange before = range;
    const int8_t* want = wanted.data() + 256 * rows[i];
    int64_t sum = (int64_t{rows[i]} - 128) * ka - 128 * kb;
    // Without branches: this is most of what an ADD takes to compile.
    for (int64_t b = -128; b < 128; ++b, ++want, sum += kb) {
      // A value at a bound may lie beyond it; the clamp brings it back.
      int64_t least = *want * unit - sum;
      int64_t at_least = *want > clamp.min ? least : -kLargest;
      int64_t at_most = *want < clamp.max ? least + unit - 1 : kLargest;
      range.least = std::max(range.least, at_least);
      range.most = std::min(range.most, at_most);
    }
    if (range.least != before.least) least_at = i;
    if (range.most != before.most) most_at = i;
    if (range.least <= range.most) continue;
    rows.to_front(std::max(least_at, most_at));
    rows.to_front(std::min(least_at, most_at) + (least_at != most_at ? 1 : 0));
    break;
  }
  return range;
}

}  // namespace

std::optional<AffineForm> fit_affine(const std::vector<int8_t>& wanted, const std::array<double, 2>& slope,
                                     double constant, ClampI32 clamp) {
  double reach = 128 * (std::abs(slope[0]) + std::abs(slope[1])) + std::abs(constant) + 1;
  if (!(reach < 1e6)) return std::nullopt;
  int finest = 30 - std::ilogb(reach);  // 11 or more
  constexpr int kNearby[] = {0, 1, -1};
  Rows rows;
  for (int shift = std::min(finest, 30); shift >= finest - 2; --shift) {
    int64_t rounded[2];
    for (size_t i = 0; i < 2; ++i) rounded[i] = std::llround(std::ldexp(slope[i], shift));
    for (int da : kNearby) {
      for (int db : kNearby) {
        int64_t ka = rounded[0] + da, kb = rounded[1] + db;
        OffsetRange range = offsets_for(wanted, ka, kb, shift, clamp, rows);
        if (range.least > range.most) continue;
        int64_t offset = range.least + (range.most - range.least) / 2;
        int64_t swing = 128 * (std::abs(ka) + std::abs(kb));
        if (swing + std::abs(offset) > kLargest) continue;
        return AffineForm{{static_cast<int32_t>(ka), static_cast<int32_t>(kb)},
                          static_cast<int32_t>(offset),
                          shift,
                          static_cast<int32_t>((offset - swing) >> shift),
                          static_cast<int32_t>((offset + swing) >> shift)};
      }
    }
  }
  return std::nullopt;
}

}  // namespace aotc::ops
