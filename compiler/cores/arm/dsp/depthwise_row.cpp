// SPDX-License-Identifier: Apache-2.0
// What the kernel of a row of depthwise convolutions means. Its text is in cores/arm/generated/dsp_row.cpp.
#include "cores/arm/dsp/depthwise_kernels.h"

#include <algorithm>

#include "cores/arm/dsp/depthwise_lines.h"

namespace aotc::cores::arm {

using tir::BufferPtr;
using tir::Ex;
using tir::FunctionBuilder;
using tir::KernelPtr;

namespace {

constexpr int kBiasWord = 2, kLineWord = 3;

}  // namespace

bool DepthwiseRow::fits() const {
  const int64_t written = std::min<int64_t>(columns, kMostWritten + 1);
  return columns >= 2 && 2 * row + (written * stride + 2) * pixel <= kMostOffset && written * out_pixel <= kMostOffset;
}

KernelPtr dw_row_kernel(const DepthwiseRow& s, int shift, bool sign) {
  FunctionBuilder f("dw_row");
  BufferPtr stream = f.constant("stream", DType::kI32, 0);
  BufferPtr x = f.input("x", DType::kI8, 0);
  BufferPtr out = f.output("out", DType::kI8, 0);
  Ex channels = f.scalar("channels");
  const int64_t words = dw_stream_words(sign), left = s.left ? 1 : 0;
  f.loop("c", 0, channels, [&](Ex c) {
    Ex at_stream = f.let("at_stream", c * words);
    std::vector<Ex> w;
    for (const DepthwisePairs::Place& p : DepthwisePairs::kPlaces)
      w.push_back(f.let(
          "w", (shl_wrapping(load(stream, at_stream + p.word), 24 - 8 * p.byte) >> 24) * (1 << DepthwisePairs::kLeft)));
    Ex bias = f.let("bias", load(stream, at_stream + kBiasWord) & -256);
    f.loop("column", 0, s.columns, [&](Ex column) {
      Ex acc = f.var("acc", bias);
      for (int64_t kx = 0; kx < 3; ++kx)
        for (int64_t ky = 0; ky < 3; ++ky) {
          Ex v = load(x, c + ky * s.row + (column * s.stride + (kx - left)) * s.pixel);
          if (s.left && kx == 0) v = select(column > 0, v, s.zero);
          if (s.right && kx == 2) v = select(column < s.columns - 1, v, s.zero);
          f.assign(acc, add_wrapping(acc, mul_wrapping(f.let("v", v), w[static_cast<size_t>(3 * kx + ky)])));
        }
      f.store(out, c + column * s.out_pixel, line_output(f, acc, stream, at_stream + kLineWord, shift, sign));
    });
  });
  return f.finish_kernel("dw_row", {{"row", s.row},
                                    {"pixel", s.pixel},
                                    {"out_pixel", s.out_pixel},
                                    {"columns", s.columns},
                                    {"stride", s.stride},
                                    {"left", s.left},
                                    {"right", s.right},
                                    {"zero", s.zero},
                                    {"shift", shift},
                                    {"sign", sign}});
}

}  // namespace aotc::cores::arm
