// SPDX-License-Identifier: Apache-2.0
// Functions of one 8-bit integer: 256 cases, worked out at compile time. The one thing to know: the
// emitted code reads a table only if it has to; a function that adds a constant and clamps (relu,
// re-quantisation between equal scales) becomes that arithmetic.
#pragma once

#include <functional>
#include <string>

#include "ops/operator.h"

namespace aotc::ops {

// From a stored operand value to a stored result value, defined on the operand type's range.
using ByteFunction = std::function<int64_t(int64_t)>;

// Operand `operand` (int8 or uint8) has the result's element count; other operands are not read.
Lowered lower_byte_function(const OpView& op, const std::string& name, const ByteFunction& function,
                            size_t operand = 0);

}  // namespace aotc::ops
