// SPDX-License-Identifier: Apache-2.0
// Functions that rules of several families share: they decode the format's numbers of activations and paddings.
#pragma once

#include <cstdint>

#include "ops/common/window.h"
#include "ops/operator.h"

namespace aotc::frontends::tflite {

// Converts an ActivationFunctionType; false for activations that no kernel fuses (tanh, sign bit).
bool activation_of(int code, ops::Activation& out);
// As activation_of, for the fused activation of an operator; reports [op-attribute].
bool fused_activation(const ops::OpView& op, int code, ops::Activation& out, Diagnostics& diags);

// True if `v` is a valid height or width of an image.
inline bool is_image_length(int64_t v) { return v >= 1 && v <= int64_t{1} << 24; }

// True if the padding is SAME (0) or VALID (1); else reports [op-attribute].
bool check_padding(const ops::OpView& op, int padding, Diagnostics& diags);
// Sets the pads of one axis.
void set_pads(int padding, int64_t in, int64_t kernel, int64_t stride, int64_t dilation, int32_t& before,
              int32_t& after);

// Sets padding and fused activation of an operator on windows. Strides and dilations must be set, and operand 0 must
// have rank 4. Reports an unknown padding and an activation that no kernel fuses.
bool import_window(const ops::OpView& op, int padding, int activation, int64_t kernel_h, int64_t kernel_w,
                   ops::WindowFields& fields, Diagnostics& diags);

}  // namespace aotc::frontends::tflite
