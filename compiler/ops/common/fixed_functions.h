// SPDX-License-Identifier: Apache-2.0
// Functions of fixed-point numbers that softmax and its relatives share, bit for bit the reference's. Qm
// is a number of 32 bits of which m are in front of the point.
#pragma once

#include <cstdint>
#include <vector>

#include "tir/builder.h"

namespace aotc::ops {

// exp(-d * scale) in Q0 for distances d = 0, 1, ... up to 255; 0 where the reference does not count an
// element. Trailing zeros are one zero: distances beyond the end are the last entry.
std::vector<int32_t> exponentials(double scale);

// d * scale in Q5, for as many distances as exponentials() counts.
std::vector<int32_t> scaled_distances(double scale);

// 1 / (2 * half_sum) in Q0 for half_sum in [0.5, 1) in Q0.
int32_t fixed_reciprocal(int32_t half_sum);
tir::Ex emit_reciprocal(tir::FunctionBuilder& f, const tir::Ex& half_sum);

// Doubling high multiply, rounded: floor((a * b + 2^30) / 2^31) in 64 bits; never of two smallest numbers here.
tir::Ex emit_high_mul(const tir::Ex& a, const tir::Ex& b);
// x / 2^by, nearest, ties away from zero.
tir::Ex emit_rounding_shift(const tir::Ex& x, int by);
// x * 2^by, held in 32 bits.
tir::Ex emit_saturating_shift(const tir::Ex& x, const tir::Ex& by);

// 1 / sqrt(value) as multiplier * 2^-31 * 2^-shift, the shift at least 0; 1 for values up to 1. `value` is a variable
// and is changed.
struct InverseRoot {
  tir::Ex multiplier, shift;
};
InverseRoot emit_inverse_root(tir::FunctionBuilder& f, const tir::Ex& value);

}  // namespace aotc::ops
