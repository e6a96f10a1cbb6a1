// SPDX-License-Identifier: Apache-2.0
// int8 functions that the reference defines through a float32 one (logistic, tanh): dequantise,
// apply, quantise with the inverse scale.
#pragma once

#include "ops/common/lut.h"

namespace aotc::ops {

// int8 with usable scales, or float32.
bool verify_real_function(const OpView& op, Diagnostics& diags);

// Has the result's scale an inverse in float32? Reports [op-quantization].
bool check_inverse_scale(const OpView& op, Diagnostics& diags);

// For a function with values in [-1, 1].
ByteFunction quantized_function(const OpView& op, float (*function)(float));

}  // namespace aotc::ops
