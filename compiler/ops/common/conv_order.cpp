// SPDX-License-Identifier: Apache-2.0
#include "ops/common/conv_order.h"

#include <algorithm>

namespace aotc::ops {

std::optional<WriteOrder> pointwise_order(int64_t pixels, int64_t tile, PixelBytes bytes, bool backwards, bool mixed) {
  if (pixels > WriteOrder::kMostSteps) return std::nullopt;
  WriteOrder order;
  for (int64_t start : tile_starts(pixels, tile)) {
    int64_t p = backwards ? pixels - tile - start : start;
    WriteOrder::Step read{p * bytes.in, (p + tile) * bytes.in, 0, 0};
    WriteOrder::Step write{0, 0, p * bytes.out, (p + tile) * bytes.out};
    if (mixed) {
      order.steps.push_back({read.read_begin, read.read_end, write.write_begin, write.write_end});
    } else {
      order.steps.push_back(read);
      order.steps.push_back(write);
    }
  }
  return order;
}

std::optional<WriteOrder> rows_order(const Window& window, int64_t rows, PixelBytes bytes) {
  const WindowAxis& y = window.y;
  int64_t in = window.x.in * bytes.in, out = window.x.out * bytes.out;
  WriteOrder order;
  for (int64_t start : tile_starts(y.out, rows)) {
    int64_t top = std::max<int64_t>(y.start(start), 0);
    int64_t bottom = std::min(y.start(start + rows - 1) + y.effective_kernel(), y.in);
    order.steps.push_back({top * in, bottom * in, 0, 0});
    order.steps.push_back({0, 0, start * out, (start + rows) * out});
  }
  return order;
}

ByteRange window_bytes(const Window& window, int64_t p, int64_t in_bytes) {
  const WindowAxis& y = window.y;
  const WindowAxis& x = window.x;
  int64_t n = p / (y.out * x.out), oy = p / x.out % y.out, ox = p % x.out;
  int64_t top = std::max<int64_t>(y.start(oy), 0);
  int64_t bottom = std::min(y.start(oy) + y.effective_kernel(), y.in);
  int64_t left = std::max<int64_t>(x.start(ox), 0);
  int64_t right = std::min(x.start(ox) + x.effective_kernel(), x.in);
  if (top >= bottom || left >= right) return {};
  return {((n * y.in + top) * x.in + left) * in_bytes, ((n * y.in + bottom - 1) * x.in + right) * in_bytes};
}

std::optional<WriteOrder> window_order(const Window& window, int64_t tile, PixelBytes bytes) {
  int64_t pixels = window.batch * window.y.out * window.x.out;
  if (pixels > WriteOrder::kMostSteps) return std::nullopt;
  WriteOrder order;
  for (int64_t start : tile_starts(pixels, tile)) {
    for (int64_t p = start; p < start + tile; ++p) {
      ByteRange read = window_bytes(window, p, bytes.in);
      if (read.begin < read.end) order.steps.push_back({read.begin, read.end, 0, 0});
    }
    order.steps.push_back({0, 0, start * bytes.out, (start + tile) * bytes.out});
  }
  return order;
}

}  // namespace aotc::ops
