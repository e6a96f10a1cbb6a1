// SPDX-License-Identifier: Apache-2.0
// Functions that several import rules share: they decode the numbers by which TFLite identifies activations and
// paddings.
#pragma once

#include <cstdint>

#include "ops/common/window.h"
#include "ops/operator.h"

namespace aotc::frontends::tflite {

// Converts TFLite's ActivationFunctionType; false for activations that aotc cannot fuse into an operator (tanh, sign
// bit).
bool activation_of(int code, ops::Activation& out);
// As activation_of, for the fused activation of an operator; reports [op-attribute] if the result is false.
bool fused_activation(const ops::OpView& op, int code, ops::Activation& out, Diagnostics& diags);

// True if `v` is a valid height or width of an image.
inline bool is_image_length(int64_t v) { return v >= 1 && v <= int64_t{1} << 24; }

// True if the padding is SAME (0) or VALID (1). Otherwise reports [op-attribute].
bool check_padding(const ops::OpView& op, int padding, Diagnostics& diags);
// Computes the padding before and after one axis.
void set_pads(int padding, int64_t in, int64_t kernel, int64_t stride, int64_t dilation, int32_t& before,
              int32_t& after);

// Sets padding and fused activation of an operator on windows, such as a convolution or a pool. Strides and dilations
// must be set, and operand 0 must have rank 4. Reports an unknown padding, and an activation that aotc cannot fuse.
bool import_window(const ops::OpView& op, int padding, int activation, int64_t kernel_h, int64_t kernel_w,
                   ops::WindowFields& fields, Diagnostics& diags);

}  // namespace aotc::frontends::tflite
