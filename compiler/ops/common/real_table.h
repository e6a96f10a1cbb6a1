// SPDX-License-Identifier: Apache-2.0
// int8 functions that the reference defines through a float32 one (logistic, tanh): dequantise,
// apply, quantise with the inverse scale.
#pragma once

#include "ops/common/lut.h"

namespace aotc::ops {

// Has the result's scale an inverse in float32? Reports [op-quantization].
bool check_inverse_scale(const OpView& op, Diagnostics& diags);

// For a function with values in [-1, 1].
ByteFunction quantized_function(const OpView& op, float (*function)(float));

}  // namespace aotc::ops
