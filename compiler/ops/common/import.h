// SPDX-License-Identifier: Apache-2.0
// What import rules of several operators share: operands that define the operator (axes, shapes,
// amounts) are read here from constants and become attributes. The one thing to know: the numbers
// come from the file as they are, so whoever asks for them must check their range.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ops/operator.h"

namespace aotc::ops {

// The values of operand `i`, an int32 or int64 constant with at most `most` elements. Otherwise
// reports [op-attribute], naming the operand as `what` ("axes"), and returns false. LiteRT also
// looks at the rank: a list has one dimension.
constexpr size_t kAnyRank = ~size_t{0};
bool constant_ints(const OpView& op, size_t i, std::string_view what, size_t most, std::vector<int64_t>& out,
                   Diagnostics& diags, size_t rank = 1);
// A constant with exactly one element.
bool constant_int(const OpView& op, size_t i, std::string_view what, int64_t& out, Diagnostics& diags);

// Operand `i`, a constant with one element, as a dimension of operand 0.
bool constant_axis(const OpView& op, size_t i, size_t& axis, Diagnostics& diags);

// No import limit on ranks is above this, so no list of axes is longer.
inline constexpr size_t kMostAxes = 64;

}  // namespace aotc::ops
