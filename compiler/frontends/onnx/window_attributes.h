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
  // True if aotc's pools have such windows.
  bool is_plain() const { return dims() <= 2 && is_inside() && dilations == Ints(dims(), 1); }
};

// Reads the attributes of a call whose operand 0 is an image with batch and channel dimensions.
WindowAttributes window_of(Call& c, const Ints& kernel);

// aotc's operators work on images. A signal, with one spatial dimension, is an image of one row. as_image adds the
// dimension of the rows to a signal or its filters, as_planes removes it from results of windows `w`; both return a
// tensor that has two spatial dimensions as it is.
graph::Shape image_shape(graph::Shape shape);
Id as_image(Builder& b, Id x);
Id as_planes(Builder& b, Id image, const WindowAttributes& w);
// Operators over volumes have three spatial dimensions: those of planes over fewer are the last ones. volume_shape adds
// the others to planes or filters, volume_of also brings the channels to the end, and planes_of undoes both.
// along_volume completes a list of an attribute with `otherwise`.
graph::Shape volume_shape(graph::Shape shape);
Id volume_of(Builder& b, Id x);
Id planes_of(Builder& b, Id volume, size_t dims);
Ints along_volume(Ints list, int64_t otherwise);
// Height and width of `sizes`, which has one or two elements; the height of a signal is `otherwise`.
struct HeightWidth {
  int64_t height, width;
};
HeightWidth height_width(const Ints& sizes, int64_t otherwise = 1);
// Strides, dilations and padding of an operator over images, for windows over one or two dimensions.
std::vector<Setting> image_settings(const WindowAttributes& w);
// The same and the size of the window, as pools have it.
std::vector<Setting> pool_settings(const WindowAttributes& w);

// The same of an operator over volumes.
std::vector<Setting> volume_settings(const WindowAttributes& w, int64_t groups);

// Appends a convolution over volumes of f32, or the i32 sums of i32. `x` and `filters` have the shapes of inputs 0 and
// 1 of the call; the bias may be absent.
Id volume_convolution(Builder& b, Id x, Id filters, Id bias, const WindowAttributes& w, int64_t groups);

void conv_transpose(Call& c);
void col2im(Call& c);

}  // namespace aotc::frontends::onnx
