// SPDX-License-Identifier: Apache-2.0
// Strides, dilations and padding of convolutions and pools over any number of dimensions, settled
// against an image; and the transposed convolution, which settles them the other way round.
#pragma once

#include <functional>

#include "frontends/onnx/rules.h"

namespace aotc::frontends::onnx {

struct WindowAttributes {
  Ints in, kernel, strides, dilations, before, after, out;
  Ints asked_after;  // padding behind without what rounding up (ceil_mode) adds

  size_t dims() const { return kernel.size(); }
  bool is_unpadded() const;
  // No window lies in the padding altogether.
  bool is_inside() const;
};

// Of operand 0, an image of batches and channels.
WindowAttributes window_of(Call& c, const Ints& kernel);

// A convolution of floats that have the shapes of inputs 0 and 1, without a bias.
Id convolution(Call& c, Id x, Id filters, const WindowAttributes& w, int64_t groups);

void conv_transpose(Call& c);
void col2im(Call& c);

}  // namespace aotc::frontends::onnx
