// SPDX-License-Identifier: Apache-2.0
// int8 functions of two values that are a weighted sum, rounded and clamped: one
// multiply-accumulate per operand and one shift, instead of the three fixed-point scalings of the
// reference. The one thing to know: a form is returned only if it gives the wanted result for all
// 65536 pairs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "ops/common/activation.h"

namespace aotc::ops {

// clamp((a * weight[0] + b * weight[1] + offset) >> shift); no partial sum leaves 32 bits.
struct AffineForm {
  std::array<int32_t, 2> weight;
  int32_t offset;
  int shift;
  int32_t least, most;  // of the value before the clamp
};

// `wanted[(a + 128) * 256 + b + 128]`, already clamped, is about
// slope[0] * a + slope[1] * b + constant.
std::optional<AffineForm> fit_affine(const std::vector<int8_t>& wanted,
                                     const std::array<double, 2>& slope, double constant,
                                     ClampI32 clamp);

}  // namespace aotc::ops
