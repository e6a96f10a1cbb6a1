// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/dsp/depthwise_kernels.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "cores/arm/dsp/assembly.h"
#include "cores/arm/dsp/depthwise_lines.h"

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

std::vector<int32_t> dw_shape(int64_t stride, int64_t turn, const DepthwiseShape& shape) {
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
  // Columns that C writes out: all of a narrow plane, or so many at a time.
  constexpr int64_t kNarrow = 8, kTurn = 4;
  const int64_t in_turns = columns > kNarrow ? columns / kTurn * kTurn : 0;
  f.loop("r", 0, rows, [&](Ex r) {
    auto copy = [&](const Ex& first, int64_t count) {
      Ex to = f.let("to", r * pitch + first);
      Ex from = f.let("from", r * row_bytes + first * pixel);
      for (int64_t i = 0; i < count; ++i) f.store(plane, to + i, load(x, from + pixel * i));
    };
    f.loop("i", 0, in_turns, [&](Ex i) { copy(i, kTurn); }, kTurn);
    if (in_turns < columns) copy(in_turns, columns - in_turns);
  });
  return f.finish_kernel("dw_plane", {{"columns", columns}, {"pitch", pitch}});
}

DepthwiseColumn DepthwiseColumn::of(const tir::Kernel& kernel) {
  DepthwiseColumn out{parameter(kernel, "pitch"), parameter(kernel, "stride"), parameter(kernel, "turn")};
  if (!has_parameter(kernel, "rows")) return out;
  out.rows = parameter(kernel, "rows"), out.columns = parameter(kernel, "columns");
  out.out_row = parameter(kernel, "out_row"), out.out_column = parameter(kernel, "out_column");
  out.plane_column = parameter(kernel, "plane_column");
  return out;
}

DepthwiseColumn shared_column(int64_t pitch, int64_t stride, const TargetInfo& target) {
  constexpr int64_t kFew = 3, kMany = 6;
  return {pitch, stride, target.level == Level::kSize ? kFew : kMany};
}

DepthwiseColumn column_of(int64_t pitch, int64_t stride, const DepthwiseShape& shape, int64_t calls,
                          const TargetInfo& target) {
  constexpr int64_t kMostTurn = 8, kMostTurns = 255;  // of text; what an instruction adds to the counter
  constexpr double kOutputBytes = 44;
  // Cycles of an iteration's end, of the branch into the first one, of a column's end by a counter in a register, and
  // by its address.
  constexpr int64_t kTurnEnd = 5, kSkip = 3, kColumnEnd = 4, kColumnEndAt = 9;
  constexpr double kCyclesPerByte = 2;  // at -O speed
  const double per_byte =
      (target.level == Level::kSpeed ? kCyclesPerByte : target.instructions_per_byte) / target.calls;
  DepthwiseColumn best = shared_column(pitch, stride, target);
  if (target.level == Level::kSize || shape.columns > kMostTurns) return best;
  double least = 0;
  for (int64_t turn = 1; turn <= std::min(shape.rows, kMostTurn) && (turn - 1) * shape.out_row <= kMostOffset; ++turn) {
    const DepthwiseColumn c{
        pitch, stride, turn, shape.rows, shape.columns, shape.out_row, shape.out_column, shape.plane_column};
    if (c.turns() > kMostTurns) continue;
    const int64_t cycles =
        c.turns() == 1 ? kColumnEnd : c.turns() * kTurnEnd + (c.skip() > 0 ? kSkip : 0) + kColumnEndAt;
    const double price =
        static_cast<double>(cycles * shape.columns * calls) + per_byte * kOutputBytes * static_cast<double>(turn);
    if (best.own() && price >= least) continue;
    least = price;
    best = c;
  }
  return best;
}

KernelPtr dw_column_kernel(const DepthwiseColumn& c, int shift, bool sign, bool nibbles) {
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
  const LineValues scale = let_line(f, stream, line, sign);
  // The weights of a row: the first two, and the last two.
  std::vector<Ex> first, last;
  for (size_t row = 0; row < 3; ++row) {
    first.push_back(f.let("first", pair_word(w[3 * row], w[3 * row + 1])));
    last.push_back(f.let("last", pair_word(w[3 * row + 1], w[3 * row + 2])));
  }
  // A column of outputs, or two neighbours, which share the loads of four elements.
  auto emit_columns = [&](const Ex& column, int64_t count) {
    Ex to = f.var("to", column * out_column);
    Ex begin = f.let("begin", column * plane_column);
    f.loop(
        "at", begin, begin + rows * (c.stride * c.pitch),
        [&](Ex at) {
          std::vector<Ex> acc, result;
          for (int64_t i = 0; i < count; ++i) acc.push_back(f.var("acc", bias));
          for (int64_t row = 0; row < 3; ++row) {
            const Ex &low = first[static_cast<size_t>(row)], &high = last[static_cast<size_t>(row)];
            auto element = [&](int64_t i) { return load(plane, at + (row * c.pitch + i)); };
            Ex x = f.let("x", pair_word(element(0), element(1)));
            f.assign(acc[0], dot_words(acc[0], x, low));
            if (count == 1) {
              f.assign(acc[0], mla_low_high(acc[0], element(2), high));
              continue;
            }
            Ex y = f.let("y", pair_word(element(2), element(3)));
            f.assign(acc[0], mla_low_high(acc[0], y, high));
            f.assign(acc[1], mla_low_high(acc[1], low, x));
            f.assign(acc[1], dot_words(acc[1], y, high));
          }
          for (const Ex& sum : acc) result.push_back(f.let("result", line_output(f, sum, scale, shift)));
          for (int64_t i = 0; i < count; ++i) f.store(out, to + out_column * i, result[static_cast<size_t>(i)]);
          f.assign(to, to + out_row);
        },
        c.stride * c.pitch);
  };
  Ex in_twos = f.let("in_twos", select(plane_column == 1, columns - columns % 2, 0));
  f.loop("column", 0, in_twos, [&](Ex column) { emit_columns(column, 2); }, 2);
  f.loop("column", in_twos, columns, [&](Ex column) { emit_columns(column, 1); });
  std::vector<std::pair<std::string, int64_t>> parameters = {
      {"pitch", c.pitch}, {"stride", c.stride}, {"turn", c.turn}, {"shift", shift}, {"sign", sign}};
  if (c.own())
    parameters.insert(parameters.end(), {{"rows", c.rows},
                                         {"columns", c.columns},
                                         {"out_row", c.out_row},
                                         {"out_column", c.out_column},
                                         {"plane_column", c.plane_column}});
  return f.finish_kernel(nibbles ? "dw_column_nibbles" : "dw_column", std::move(parameters));
}

}  // namespace aotc::cores::arm
