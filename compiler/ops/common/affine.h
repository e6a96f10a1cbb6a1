// SPDX-License-Identifier: Apache-2.0
// int8 functions of two values that are a weighted sum, rounded and clamped: one
// multiply-accumulate per operand and one shift, instead of the three fixed-point scalings of the
// reference. The one thing to know: a form is returned only if it gives the wanted result for all
// 65536 pairs.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "ops/common/activation.h"
#include "support/numerics.h"

namespace aotc::ops {

// clamp(multiply_by_quantized_multiplier(v, m) + zero) for very many values: the same arithmetic without its
// branches. Of multipliers that only shift right, so that nothing saturates.
class RoundedTwice {
 public:
  RoundedTwice(QuantizedMultiplier m, int64_t zero, ClampI32 clamp)
      : multiplier_(m.multiplier),
        right_(-m.shift),
        half_(right_ > 0 ? int64_t{1} << (right_ - 1) : 0),
        below_(right_ > 0 ? 1 : 0),
        zero_(zero),
        least_(clamp.min),
        most_(clamp.max) {}

  int64_t operator()(int64_t v) const {
    int64_t high = (v * multiplier_ + (int64_t{1} << 30)) >> 31;
    int64_t value = ((high + half_ + (high >> 63) * below_) >> right_) + zero_;
    return std::clamp(value, least_, most_);
  }

 private:
  int64_t multiplier_;
  int right_;
  int64_t half_, below_, zero_, least_, most_;
};

// clamp((a * weight[0] + b * weight[1] + offset) >> shift); no partial sum leaves 32 bits.
struct AffineForm {
  std::array<int32_t, 2> weight;
  int32_t offset;
  int shift;
  int32_t least, most;  // of the value before the clamp
};

// `wanted[(a + 128) * 256 + b + 128]`, already clamped, is about
// slope[0] * a + slope[1] * b + constant.
std::optional<AffineForm> fit_affine(const std::vector<int8_t>& wanted, const std::array<double, 2>& slope,
                                     double constant, ClampI32 clamp);

}  // namespace aotc::ops
