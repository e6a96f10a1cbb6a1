// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/dsp/depthwise_kernels.h"

#include <array>

#include <fmt/format.h>

namespace aotc::cores::arm {

using tir::BufferPtr;
using tir::Ex;
using tir::FunctionBuilder;
using tir::KernelPtr;

namespace {

// Of 4 bits in the first word, but for the last.
constexpr std::array<int, DepthwisePairs::kTaps> kNibbles = {1, 5, 2, 3, 7, 6, 0, 4, 0};

// Weight words before the one with the bias.
int64_t dw_weight_words(bool nibbles) { return nibbles ? 1 : 2; }

}  // namespace

int64_t dw_stream_words(bool sign, bool nibbles) { return dw_weight_words(nibbles) + (sign ? 4 : 3); }

std::optional<std::vector<int32_t>> dw_stream(const std::vector<int8_t>& weights, const std::vector<int32_t>& bias,
                                              const PairLines& lines, bool nibbles) {
  constexpr int64_t kMostBias = int64_t{1} << 23;
  std::vector<int32_t> out;
  for (size_t c = 0; c < bias.size(); ++c) {
    if (bias[c] < -kMostBias || bias[c] >= kMostBias) return std::nullopt;
    std::vector<uint32_t> words(static_cast<size_t>(dw_weight_words(nibbles)));
    words.push_back(static_cast<uint32_t>(bias[c]) << 8);
    for (size_t t = 0; t < DepthwisePairs::kTaps; ++t) {
      uint32_t w = static_cast<uint8_t>(weights[c * DepthwisePairs::kTaps + t]);
      if (!nibbles) {
        words[static_cast<size_t>(DepthwisePairs::kPlaces[t].word)] |= w << (8 * DepthwisePairs::kPlaces[t].byte);
      } else if (t + 1 < DepthwisePairs::kTaps) {
        words[0] |= (w & 15) << (4 * kNibbles[t]);
      } else {
        words[1] |= w;
      }
    }
    for (uint32_t w : words) out.push_back(static_cast<int32_t>(w));
    const auto& all = lines.fit.channels;
    const LineFit::Channel& line = all[all.size() == 1 ? 0 : c];
    out.push_back(line.multiplier);
    out.push_back(line.offset);
    if (lines.sign()) out.push_back(line.sign);
  }
  return out;
}

std::vector<int32_t> dw_shape(int64_t stride, int64_t unroll, const DepthwiseShape& shape) {
  int64_t turn = unroll * DepthwisePairs::in_flight(stride);
  int64_t turns = (shape.rows + turn - 1) / turn;
  int64_t rows_read = (shape.rows - 1) * stride + 3;
  std::vector<int32_t> out(DepthwisePairs::kShapeWords);
  auto put = [&](int at, int64_t value) { out[static_cast<size_t>(at)] = static_cast<int32_t>(value); };
  put(DepthwisePairs::kColumns, shape.columns);
  put(DepthwisePairs::kTurns, (turns - 1) << 16);
  put(DepthwisePairs::kSkip, turns * turn - shape.rows);
  put(DepthwisePairs::kOutRow, shape.out_row);
  put(DepthwisePairs::kPlaneNext, shape.plane_column - rows_read * shape.plane_row);
  put(DepthwisePairs::kOutNext, shape.out_column - shape.rows * shape.out_row);
  put(DepthwisePairs::kRows, shape.rows);
  put(DepthwisePairs::kOutColumn, shape.out_column);
  put(DepthwisePairs::kPlaneColumn, shape.plane_column);
  return out;
}

KernelPtr dw_plane_kernel(int64_t columns, int64_t pitch) {
  FunctionBuilder f("dw_plane");
  BufferPtr x = f.input("x", DType::kI8, 0);
  BufferPtr plane = f.output("plane", DType::kI16, 0);
  BufferPtr shape = f.constant("shape", DType::kI32, 0);
  Ex rows = f.scalar("rows");
  Ex pixel = f.let("pixel", load(shape, DepthwisePairs::kPixel));
  Ex row_bytes = f.let("row_bytes", load(shape, DepthwisePairs::kRow));
  f.loop("r", 0, rows, [&](Ex r) {
    f.loop("i", 0, columns, [&](Ex i) { f.store(plane, r * pitch + i, load(x, r * row_bytes + i * pixel)); });
  });
  return f.finish_kernel("dw_plane", {{"columns", columns}, {"pitch", pitch}});
}

KernelPtr dw_column_kernel(int64_t pitch, int64_t stride, int64_t unroll, int shift, bool sign, bool nibbles) {
  FunctionBuilder f("dw_column");
  BufferPtr stream = f.constant("stream", DType::kI32, 0);
  BufferPtr plane = f.input("plane", DType::kI16, 0);
  BufferPtr out = f.output("out", DType::kI8, 0);
  BufferPtr shape = f.constant("shape", DType::kI32, 0);
  auto of_shape = [&](const char* name, int at) { return f.let(name, load(shape, at)); };
  Ex out_row = of_shape("out_row", DepthwisePairs::kOutRow);
  Ex out_column = of_shape("out_column", DepthwisePairs::kOutColumn);
  Ex columns = of_shape("columns", DepthwisePairs::kColumns);
  Ex plane_column = f.let("plane_column", load(shape, DepthwisePairs::kPlaneColumn) >> 1);
  Ex rows = of_shape("rows", DepthwisePairs::kRows);
  const int64_t biases = dw_weight_words(nibbles), line = biases + 1;
  auto weight = [&](size_t t) {
    const DepthwisePairs::Place& p = DepthwisePairs::kPlaces[t];
    if (!nibbles) return shl_wrapping(load(stream, p.word), 24 - 8 * p.byte) >> 24;
    if (t + 1 == DepthwisePairs::kTaps) return shl_wrapping(load(stream, biases), 24) >> 24;
    return shl_wrapping(load(stream, 0), 28 - 4 * kNibbles[t]) >> 28;
  };
  std::vector<Ex> w;
  for (size_t t = 0; t < DepthwisePairs::kTaps; ++t)
    w.push_back(f.let(fmt::format("w{}", t), weight(t) * (1 << DepthwisePairs::kLeft)));
  Ex bias = f.let("bias", load(stream, biases) & -256);
  f.loop("column", 0, columns, [&](Ex column) {
    f.loop("row", 0, rows, [&](Ex row) {
      Ex at = f.let("at", column * plane_column + row * (stride * pitch));
      Ex acc = f.var("acc", bias);
      for (int64_t t = 0; t < DepthwisePairs::kTaps; ++t)
        f.assign(acc,
                 add_wrapping(acc, mul_wrapping(load(plane, at + t / 3 * pitch + t % 3), w[static_cast<size_t>(t)])));
      f.store(out, column * out_column + row * out_row, line_output(f, acc, stream, line, shift, sign));
    });
  });
  return f.finish_kernel(nibbles ? "dw_column_nibbles" : "dw_column",
                         {{"pitch", pitch}, {"stride", stride}, {"unroll", unroll}, {"shift", shift}, {"sign", sign}});
}

}  // namespace aotc::cores::arm
