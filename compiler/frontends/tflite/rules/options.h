// SPDX-License-Identifier: Apache-2.0
// What rules of several families share: how the format numbers activations and paddings.
#pragma once

#include <cstdint>

#include "ops/common/window.h"
#include "ops/operator.h"

namespace aotc::frontends::tflite {

// ActivationFunctionType; false for those no kernel fuses (tanh, sign bit).
bool activation_of(int code, ops::Activation& out);
// The same as part of an operator; reports [op-attribute].
bool fused_activation(const ops::OpView& op, int code, ops::Activation& out, Diagnostics& diags);

// May it be the height or width of an image?
inline bool is_image_length(int64_t v) { return v >= 1 && v <= int64_t{1} << 24; }

// Is it one of the format's two, SAME (0) and VALID (1)? Reports [op-attribute].
bool check_padding(const ops::OpView& op, int padding, Diagnostics& diags);
// Sets the pads of one axis.
void set_pads(int padding, int64_t in, int64_t kernel, int64_t stride, int64_t dilation, int32_t& before,
              int32_t& after);

// Padding and fused activation of an operator on windows, once strides and dilations are set;
// operand 0 is known to have rank 4. Reports a padding that the format does not have and an
// activation that no kernel fuses.
bool import_window(const ops::OpView& op, int padding, int activation, int64_t kernel_h, int64_t kernel_w,
                   ops::WindowFields& fields, Diagnostics& diags);

}  // namespace aotc::frontends::tflite
