// SPDX-License-Identifier: Apache-2.0
// WindowAttributes: strides, dilations and padding of convolutions, transposed convolutions and pools, over any number
// of dimensions. Automatic padding is already resolved to numbers for the image size.
#pragma once

#include <functional>

#include "frontends/onnx/rules.h"

namespace aotc::frontends::onnx {

struct WindowAttributes {
  Ints in, kernel, strides, dilations, before, after, out;
  Ints asked_after;  // padding at the end that the file specifies, without the part that ceil_mode adds

  size_t dims() const { return kernel.size(); }
  bool is_unpadded() const;
  // True if no window is entirely in the padding.
  bool is_inside() const;
};

// Reads the attributes of a call whose operand 0 is an image with batch and channel dimensions.
WindowAttributes window_of(Call& c, const Ints& kernel);

// Appends a float convolution without bias. `x` and `filters` have the shapes of inputs 0 and 1 of the call.
Id convolution(Call& c, Id x, Id filters, const WindowAttributes& w, int64_t groups);

void conv_transpose(Call& c);
void col2im(Call& c);

}  // namespace aotc::frontends::onnx
