// SPDX-License-Identifier: Apache-2.0
// Write orders of convolutions that compute `tile` neighbouring pixels of the flat list of outputs at
// a time, all channels of them, once everything the tile reads has been read unless said otherwise.
#pragma once

#include <optional>

#include "ops/common/gemm.h"
#include "ops/common/window.h"

namespace aotc::ops {

// Bytes of one pixel.
struct PixelBytes {
  int64_t in = 1, out = 1;
};

// A 1 x 1 window: pixel p reads pixel p. Nothing for images so large that a plan would cost more
// memory than sharing saves. `backwards`: the last tile first. `mixed`: a tile's pixels are read in
// between writing them, as kernels do that read the input where it lies.
std::optional<WriteOrder> pointwise_order(int64_t pixels, int64_t tile, PixelBytes bytes, bool backwards, bool mixed);

// Outputs of `rows` rows at a time, once the image rows that they need have been read whole.
std::optional<WriteOrder> rows_order(const Window& window, int64_t rows, PixelBytes bytes);

// Any window.
std::optional<WriteOrder> window_order(const Window& window, int64_t tile, PixelBytes bytes);

// Bytes that the window of output p reads, from the first to behind the last; empty where all of it
// is padding.
struct ByteRange {
  int64_t begin = 0, end = 0;
};
ByteRange window_bytes(const Window& window, int64_t p, int64_t in_bytes);

}  // namespace aotc::ops
