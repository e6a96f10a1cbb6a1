// SPDX-License-Identifier: Apache-2.0
// 3 x 3 depthwise convolution with strides of 2 on cores with SMLAD, a channel at a time along the rows of the image as
// it is: three bytes of a column are two of a pair and a single one, and a column is loaded once for the two outputs
// that read it. No plane is made. The one thing to know: where a window's first or last row is outside of the image,
// the three rows that are loaded are others, inside of it, and the weights are moved; of a missing column only the sum
// is known.
#pragma once

#include "cores/arm/dsp/depthwise_kernels.h"

namespace aotc::cores::arm {

// Bytes from row to row and from pixel to pixel of the image and of the result; columns of the result.
struct StridedRows {
  int64_t row = 0, pixel = 1, out_pixel = 1, columns = 2;
  bool left = false,
       right = false;  // whether the first column of the first window and the last of the last are outside
  int32_t zero = 0;    // what is there
  // What instructions can address.
  bool fits() const;
};
// Words of the table that the kernel takes: rows of the result, and which row of their windows is outside.
struct StridedShape {
  enum Word { kRows, kMissing };
  enum Missing { kNone, kTop, kBottom };
};

// The stream is dw_stream's, of weights [channel][column][row].
// (stream, x, out, shape): x is at the first of three rows inside of the image, of the first output row.
tir::KernelPtr dw_strided_kernel(const StridedRows& rows, int shift, bool sign);

}  // namespace aotc::cores::arm
