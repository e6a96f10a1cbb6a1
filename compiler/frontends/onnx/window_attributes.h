// SPDX-License-Identifier: Apache-2.0
// WindowAttributes: strides, dilations and padding of convolutions and pools over any number of dimensions, resolved
// against the image size; transposed convolutions included.
#pragma once

#include <functional>

#include "frontends/onnx/rules.h"

namespace aotc::frontends::onnx {

struct WindowAttributes {
  Ints in, kernel, strides, dilations, before, after, out;
  Ints asked_after;  // padding at the end without the part that ceil_mode adds

  size_t dims() const { return kernel.size(); }
  bool is_unpadded() const;
  // True if no window is entirely in the padding.
  bool is_inside() const;
};

// The attributes for operand 0, an image with batches and channels.
WindowAttributes window_of(Call& c, const Ints& kernel);

// A float convolution without bias of tensors with the shapes of inputs 0 and 1.
Id convolution(Call& c, Id x, Id filters, const WindowAttributes& w, int64_t groups);

void conv_transpose(Call& c);
void col2im(Call& c);

}  // namespace aotc::frontends::onnx
