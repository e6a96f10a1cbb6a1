// SPDX-License-Identifier: Apache-2.0
// Whether an activation's bounds can be told in the result's stored values.
#pragma once

#include "ops/common/activation.h"
#include "ops/operator.h"

namespace aotc::ops {

// Are 6 and 1 in units of an int8 result's scale numbers of 32 bits? Beyond them the reference's
// conversion is undefined. Reports [op-quantization].
bool check_activation_bounds(const OpView& op, Activation activation, Diagnostics& diags);

}  // namespace aotc::ops
