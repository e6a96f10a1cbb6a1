// SPDX-License-Identifier: Apache-2.0
// One row of the result of a 3 x 3 depthwise convolution on cores with SMLAD, all its channels in one call: what a row
// of a segment is (plan/segments.h). Each channel goes along the three rows of the image as they are: a column is three
// bytes, two as a pair and a single one, and is loaded once for all outputs that read it. The one thing to know: no row
// of the windows is outside of the image; of a missing column the zero points are multiplied.
#pragma once

#include "cores/arm/dsp/depthwise_kernels.h"

namespace aotc::cores::arm {

// Bytes from row to row and from pixel to pixel of the image, and from pixel to pixel of the result; its columns.
struct DepthwiseRow {
  int64_t row = 0, pixel = 1, out_pixel = 1, columns = 2;
  int64_t stride = 1;  // from column to column: 1 or 2
  bool left = false,
       right = false;  // whether the first column of the first window and the last of the last are outside
  int32_t zero = 0;    // what is there
  // What instructions can address.
  bool fits() const;
};

// The stream is dw_stream's, of weights [channel][column][row], of as many channels as are made.
// (stream, x, out, channels): x is at the first column inside of the image.
tir::KernelPtr dw_row_kernel(const DepthwiseRow& row, int shift, bool sign);

}  // namespace aotc::cores::arm
