// SPDX-License-Identifier: Apache-2.0
// Windows over NHWC images: the geometry that convolutions and pools share. Padding is always
// explicit (four counts); "SAME" and "VALID" exist only in files.
#pragma once

#include <cstdint>

#include "ops/common/activation.h"
#include "ops/common/rounding.h"
#include "ops/operator.h"

namespace aotc::ops {

// Attribute fields of windowed operators.
struct WindowFields {
  int32_t stride_h = 1, stride_w = 1;
  int32_t dilation_h = 1, dilation_w = 1;
  int32_t pad_top = 0, pad_bottom = 0, pad_left = 0, pad_right = 0;
  Activation activation = Activation::kNone;
  RoundingRule rounding = RoundingRule::kLitert;

  template <typename Self, typename F>
  static void visit_window(Self& self, F&& field) {
    field("stride_h", self.stride_h);
    field("stride_w", self.stride_w);
    field("dilation_h", self.dilation_h);
    field("dilation_w", self.dilation_w);
    field("pad_top", self.pad_top);
    field("pad_bottom", self.pad_bottom);
    field("pad_left", self.pad_left);
    field("pad_right", self.pad_right);
    field("activation", self.activation);
    field("rounding", self.rounding);
  }
};

// Can a window reach beyond the image?
bool has_padding(const WindowFields& fields);

// One axis of a window with everything known.
struct WindowAxis {
  int64_t in = 1, out = 1, kernel = 1, stride = 1, dilation = 1, pad_before = 0, pad_after = 0;

  int64_t effective_kernel() const { return (kernel - 1) * dilation + 1; }
  // First input position of output position o; may be negative.
  int64_t start(int64_t o) const { return o * stride - pad_before; }

  struct Range {
    int64_t low = 0, high = -1;  // both inclusive
    bool empty() const { return low > high; }
  };
  // Outputs whose windows lie inside of the image.
  Range inside() const;
  // True if a window reaches beyond the image.
  bool reaches_beyond() const { return pad_before > 0 || start(out - 1) + effective_kernel() > in; }
  // True if the only window is the whole image, without padding.
  bool covers_image() const { return kernel == in && out == 1 && dilation == 1 && pad_before == 0; }
};

// Do `size` elements of an axis from `begin` on lie inside of the `in` that it has? The constant 0 where they are more:
// compilers warn about conditions that nothing fulfils.
tir::Ex lies_inside(const tir::Ex& begin, int64_t size, int64_t in);

struct Window {
  WindowAxis y, x;
  int64_t batch = 1;
};

// Output length, or -1 if nothing fits or the numbers are out of range (each at most 2^24).
int64_t window_output(int64_t in, int64_t kernel, int64_t stride, int64_t dilation, int64_t pad_before,
                      int64_t pad_after);

// The pads of one axis with which as many windows fit as steps: padding SAME, the odd one behind.
void same_pads(int64_t in, int64_t kernel, int64_t stride, int64_t dilation, int32_t& before, int32_t& after);

// Checks the fields (positive strides and dilations, pads >= 0) and computes the output size of
// a rank-4 operand 0 with a kernel; reports and returns false if it cannot be.
bool infer_window(const OpView& op, const WindowFields& fields, int64_t kernel_h, int64_t kernel_w, Window& out,
                  Diagnostics& diags);
// Same for an operator already verified.
Window window_of(const OpView& op, const WindowFields& fields, int64_t kernel_h, int64_t kernel_w);

// Windows row by row; what is read above and below the image has the bytes `fill`.
RowFlow rows_of_window(const WindowAxis& y, std::vector<uint8_t> fill);

// Real zero in an element of the type, as bytes.
std::vector<uint8_t> zero_element(const graph::TensorType& type);

// The attributes without padding above and below.
template <typename Attributes>
std::shared_ptr<const graph::AttributesBase> without_row_padding(const OpView& op) {
  auto made = std::make_shared<Attributes>(op.attrs<Attributes>());
  made->pad_top = made->pad_bottom = 0;
  return made;
}

}  // namespace aotc::ops
