// SPDX-License-Identifier: Apache-2.0
#include "ops/depthwise_conv_2d/dsp_kernels.h"

#include <array>

#include <fmt/format.h>

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;
using tir::FunctionBuilder;
using tir::KernelPtr;

namespace {

// Word and byte of each tap in a channel's stream.
struct Place {
  int word, byte;
};
constexpr std::array<Place, DepthwisePairs::kTaps> kPlaces = {
    {{0, 0}, {0, 2}, {1, 1}, {0, 1}, {0, 3}, {1, 3}, {1, 0}, {1, 2}, {2, 0}}};

}  // namespace

int64_t dw_stream_words(bool sign) { return sign ? 6 : 5; }

std::optional<std::vector<int32_t>> dw_stream(const std::vector<int8_t>& weights,
                                              const std::vector<int32_t>& bias,
                                              const PairLines& lines) {
  constexpr int64_t kMostBias = int64_t{1} << 23;
  std::vector<int32_t> out;
  for (size_t c = 0; c < bias.size(); ++c) {
    if (bias[c] < -kMostBias || bias[c] >= kMostBias) return std::nullopt;
    std::array<uint32_t, 3> words = {0, 0, static_cast<uint32_t>(bias[c]) << 8};
    for (size_t t = 0; t < DepthwisePairs::kTaps; ++t) {
      auto w = static_cast<uint8_t>(weights[c * DepthwisePairs::kTaps + t]);
      words[static_cast<size_t>(kPlaces[t].word)] |= uint32_t{w} << (8 * kPlaces[t].byte);
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
  auto put = [&](int at, int64_t value) {
    out[static_cast<size_t>(at)] = static_cast<int32_t>(value);
  };
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
    f.loop("i", 0, columns,
           [&](Ex i) { f.store(plane, r * pitch + i, load(x, r * row_bytes + i * pixel)); });
  });
  return f.finish_kernel("dw_plane", {{"columns", columns}, {"pitch", pitch}});
}

KernelPtr dw_column_kernel(int64_t pitch, int64_t stride, int64_t unroll, int shift, bool sign) {
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
  std::vector<Ex> w;
  for (const Place& p : kPlaces)
    w.push_back(f.let(fmt::format("w{}", w.size()),
                      (shl_wrapping(load(stream, p.word), 24 - 8 * p.byte) >> 24) *
                          (1 << DepthwisePairs::kLeft)));
  Ex bias = f.let("bias", load(stream, 2) & -256);
  f.loop("column", 0, columns, [&](Ex column) {
    f.loop("row", 0, rows, [&](Ex row) {
      Ex at = f.let("at", column * plane_column + row * (stride * pitch));
      Ex acc = f.var("acc", bias);
      for (int64_t t = 0; t < DepthwisePairs::kTaps; ++t)
        f.assign(acc, add_wrapping(acc, mul_wrapping(load(plane, at + t / 3 * pitch + t % 3),
                                                     w[static_cast<size_t>(t)])));
      Ex product = cast(DType::kI64, acc) * cast(DType::kI64, load(stream, 3));
      Ex sum = cast(DType::kI32, product >> tir::i64(32)) + load(stream, 4);
      if (sign) sum = sum - ((acc >> 31) & load(stream, 5));
      f.store(out, column * out_column + row * out_row, clamp(f.let("v", sum) >> shift, -128, 127));
    });
  });
  return f.finish_kernel("dw_column",
      {{"pitch", pitch}, {"stride", stride}, {"unroll", unroll}, {"shift", shift}, {"sign", sign}});
}

}  // namespace aotc::ops
