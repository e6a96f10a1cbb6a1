// SPDX-License-Identifier: Apache-2.0
#include "ops/common/affine.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace aotc::ops {

namespace {

constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();

// Offsets for which every pair comes out as wanted: [least, most], empty if least > most.
struct OffsetRange {
  int64_t least = -kLargest, most = kLargest;
};

OffsetRange offsets_for(const std::vector<int8_t>& wanted, int64_t ka, int64_t kb, int shift,
                        ClampI32 clamp) {
  OffsetRange range;
  const int8_t* want = wanted.data();
  for (int64_t a = -128; a < 128; ++a) {
    for (int64_t b = -128; b < 128; ++b, ++want) {
      int64_t sum = a * ka + b * kb;
      // A value at a bound may lie beyond it; the clamp brings it back.
      int64_t floor = static_cast<int64_t>(*want) * (int64_t{1} << shift);
      if (*want > clamp.min) range.least = std::max(range.least, floor - sum);
      if (*want < clamp.max)
        range.most = std::min(range.most, floor + (int64_t{1} << shift) - 1 - sum);
    }
    if (range.least > range.most) break;
  }
  return range;
}

}  // namespace

std::optional<AffineForm> fit_affine(const std::vector<int8_t>& wanted,
                                     const std::array<double, 2>& slope, double constant,
                                     ClampI32 clamp) {
  double reach = 128 * (std::abs(slope[0]) + std::abs(slope[1])) + std::abs(constant) + 1;
  if (!(reach < 1e6)) return std::nullopt;
  int finest = 30 - std::ilogb(reach);
  constexpr int kNearby[] = {0, 1, -1};
  for (int shift = std::min(finest, 30); shift >= std::max(finest - 2, 1); --shift) {
    int64_t rounded[2];
    for (size_t i = 0; i < 2; ++i) rounded[i] = std::llround(std::ldexp(slope[i], shift));
    for (int da : kNearby) {
      for (int db : kNearby) {
        int64_t ka = rounded[0] + da, kb = rounded[1] + db;
        OffsetRange range = offsets_for(wanted, ka, kb, shift, clamp);
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
