// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/dsp/winograd.h"

#include <array>

#include <fmt/format.h>

namespace aotc::cores::arm {

using tir::BufferPtr;
using tir::Ex;
using tir::FunctionBuilder;
using tir::KernelPtr;

namespace {

// (G g G^T)[i][j] of one channel's 3 x 3 taps, `g(y, x)` being one of them.
template <typename Tap>
std::array<int32_t, 16> transformed(Tap g) {
  constexpr int kG[4][3] = {{2, 0, 0}, {1, 1, 1}, {1, -1, 1}, {0, 0, 2}};
  std::array<int32_t, 16> out{};
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      for (int y = 0; y < 3; ++y)
        for (int x = 0; x < 3; ++x) out[static_cast<size_t>(Winograd::product(i, j))] += kG[i][y] * g(y, x) * kG[j][x];
  return out;
}

int32_t halves(int32_t low, int32_t high) {
  return static_cast<int32_t>((static_cast<uint32_t>(low) & 0xFFFF) | static_cast<uint32_t>(high) << 16);
}

}  // namespace

WinogradWeights winograd_weights(const std::vector<int8_t>& weights, int64_t channels, int64_t k, int most_left) {
  std::vector<int32_t> taps(static_cast<size_t>(channels * Winograd::kProducts * k));
  int32_t largest = 1;
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t i = 0; i < k; ++i) {
      auto all = transformed(
          [&](int y, int x) { return int32_t{weights[static_cast<size_t>(((c * 3 + y) * 3 + x) * k + i)]}; });
      for (int64_t p = 0; p < Winograd::kProducts; ++p) {
        int32_t v = all[static_cast<size_t>(p)];
        taps[static_cast<size_t>((c * Winograd::kProducts + p) * k + i)] = v;
        largest = std::max(largest, std::abs(v));
      }
    }
  WinogradWeights out;
  while (out.left < most_left && (largest << (out.left - 1)) <= INT16_MAX) ++out.left;
  for (int32_t v : taps) out.taps.push_back(static_cast<int16_t>(v * (1 << (out.left - 2))));
  return out;
}

std::vector<int32_t> winograd_stream(const WinogradWeights& weights, int64_t k, const std::vector<int64_t>& first,
                                     const std::vector<int32_t>& bias, const PairLines& lines) {
  auto tap = [&](int64_t c, int64_t p, int64_t i) {
    return int32_t{weights.taps[static_cast<size_t>((c * Winograd::kProducts + p) * k + i)]};
  };
  std::vector<int32_t> out;
  for (int64_t a : first) {
    for (int64_t p = 0; p < Winograd::kProducts; ++p) {
      for (int64_t c = a; c < a + 2 && p % 2 == 0; ++c) out.push_back(p > 0 ? 0 : shifted_bias(bias, c, weights.left));
      for (int64_t i = 0; i < k; i += 4)
        for (int64_t half = 0; half < 2; ++half)
          for (int64_t c = a; c < a + 2; ++c) out.push_back(halves(tap(c, p, i + half), tap(c, p, i + half + 2)));
    }
    for (int64_t c = a; c < a + 2; ++c) put_line(out, lines, c);
  }
  return out;
}

std::vector<int32_t> winograd_shape(int64_t steps, int64_t pairs, int64_t pixel, int64_t row, bool sign) {
  int64_t words = pairs * (16 + Winograd::kProducts * steps * 2 + 2 * line_words(sign));
  std::vector<int32_t> out(4);
  out[Winograd::kShapePairs] = static_cast<int32_t>(pairs);
  out[Winograd::kShapePixel] = static_cast<int32_t>(pixel);
  out[Winograd::kShapeRow] = static_cast<int32_t>(row);
  out[Winograd::kShapeStreamBytes] = static_cast<int32_t>(words * 4);
  return out;
}

KernelPtr winograd_rows_kernel(bool top, bool bottom, int32_t zero) {
  FunctionBuilder f("winograd_rows");
  BufferPtr x = f.input("x", DType::kI8, 0);
  BufferPtr strip = f.output("strip", DType::kI32, 0);
  Ex row_bytes = f.scalar("row_bytes");
  Ex words = f.scalar("words");
  f.loop("word", 0, words, [&](Ex word) {
    auto element = [&](int row, int channel) {
      if ((row == 0 && !top) || (row == 3 && !bottom)) return Ex(zero);
      return f.let("d", load(x, row_bytes * (row - (top ? 0 : 1)) + word * 4 + channel));
    };
    for (int half = 0; half < 2; ++half) {
      std::array<std::array<Ex, 2>, 4> t;
      for (size_t c = 0; c < 2; ++c) {
        int channel = half + 2 * static_cast<int>(c);
        Ex d0 = element(0, channel), d1 = element(1, channel), d2 = element(2, channel), d3 = element(3, channel);
        t[0][c] = d0 - d2;
        t[1][c] = d1 + d2;
        t[2][c] = d2 - d1;
        t[3][c] = d1 - d3;
      }
      for (int i = 0; i < 4; ++i) {
        const auto& pair = t[static_cast<size_t>(i)];
        f.store(strip, word * 8 + (2 * i + half), pair_word(pair[0], pair[1]));
      }
    }
  });
  return f.finish_kernel("winograd_rows", {{"top", top}, {"bottom", bottom}, {"zero", top && bottom ? 0 : zero}});
}

KernelPtr winograd_tile_kernel() {
  FunctionBuilder f("winograd_tile");
  BufferPtr strip = f.input("strip", DType::kI32, 0);
  BufferPtr panel = f.output("panel", DType::kI32, 0);
  Ex column = f.scalar("column");
  Ex words = f.scalar("words");
  constexpr int kStep = Winograd::kProducts * Winograd::kTiles;
  f.loop("word", 0, words, [&](Ex word) {
    f.loop("i", 0, 4, [&](Ex i) {
      // Products of row 0 come third, those of rows 1 and 2 before them.
      Ex row = f.let("row", select(i == 0, 2, select(i == 3, 3, i - 1)));
      for (int half = 0; half < 2; ++half) {
        std::array<Ex, 4> t;
        for (int j = 0; j < 4; ++j)
          t[static_cast<size_t>(j)] = f.let("t", load(strip, column * j + word * 8 + i * 2 + half));
        Ex to = f.let("to", word * (2 * kStep) + row * (4 * Winograd::kTiles) + half * kStep);
        auto put = [&](int j, auto combine) {
          Ex low = combine([&](int c) { return low_half(t[static_cast<size_t>(c)]); });
          Ex high = combine([&](int c) { return high_half(t[static_cast<size_t>(c)]); });
          // The order of columns within a row of products.
          f.store(panel, to + Winograd::product(1, j) * Winograd::kTiles, pair_word(low, high));
        };
        put(0, [](auto half_of) { return half_of(0) - half_of(2); });
        put(1, [](auto half_of) { return half_of(1) + half_of(2); });
        put(2, [](auto half_of) { return half_of(2) - half_of(1); });
        put(3, [](auto half_of) { return half_of(1) - half_of(3); });
      }
    });
  });
  return f.finish_kernel("winograd_tile", {});
}

namespace {

// The 16 sums of a pair of channels for four tiles: 8 runs of two products.
void emit_products(FunctionBuilder& f, const BufferPtr& stream, const BufferPtr& panel, const Ex& pair_at,
                   int64_t steps) {
  int64_t run_words = 2 + 4 * steps;
  f.loop("run", 0, 8, [&](Ex run) {
    Ex at = f.let("at", pair_at + run * run_words);
    std::vector<Ex> acc;
    for (int64_t t = 0; t < Winograd::kTiles; ++t)
      for (int64_t c = 0; c < 2; ++c) acc.push_back(f.var(fmt::format("acc{}{}", t, c), load(stream, at + c)));
    f.loop("part", 0, 2, [&](Ex part) {
      Ex product = f.let("product", run * 2 + part);
      f.loop("i", 0, steps, [&](Ex i) {
        Ex w = f.let("w", at + 2 + part * (2 * steps) + i * 2);
        Ex a = f.let("a", load(stream, w)), b = f.let("b", load(stream, w + 1));
        Ex from = f.let("from", (i * Winograd::kProducts + product) * Winograd::kTiles);
        for (int64_t t = 0; t < Winograd::kTiles; ++t) {
          Ex x = f.let(fmt::format("x{}", t), load(panel, from + t));
          auto own = static_cast<size_t>(2 * t);
          f.assign(acc[own], dot_words(acc[own], x, a));
          f.assign(acc[own + 1], dot_words(acc[own + 1], x, b));
        }
      });
      Ex to = f.let("to", product * 8 + Winograd::sums_at(steps));
      for (int64_t n = 0; n < 8; ++n) f.store(panel, to + n, acc[static_cast<size_t>(n)]);
    });
  });
}

// A^T M A for channel c of tile t: outputs (0,0), (0,1), (1,0), (1,1).
std::array<Ex, 4> emit_outputs(FunctionBuilder& f, const BufferPtr& panel, const Ex& sums) {
  std::array<Ex, 4> left, right;  // of each row i: columns summed for outputs x = 0 and x = 1
  for (int i = 0; i < 4; ++i) {
    auto noted = [&](int j) { return load(panel, sums + Winograd::product(i, j) * 8); };
    auto at = static_cast<size_t>(i);
    left[at] = f.let("left", add_wrapping(noted(0), noted(2)));
    right[at] = f.let("right", sub_wrapping(noted(1), noted(3)));
  }
  auto upper = [&](const std::array<Ex, 4>& s) { return f.let("y", add_wrapping(add_wrapping(s[0], s[1]), s[2])); };
  auto lower = [&](const std::array<Ex, 4>& s) { return f.let("y", sub_wrapping(sub_wrapping(s[1], s[2]), s[3])); };
  return {upper(left), upper(right), lower(left), lower(right)};
}

}  // namespace

KernelPtr winograd_pairs_kernel(int64_t steps, int shift, bool sign) {
  FunctionBuilder f("winograd_pairs");
  BufferPtr stream = f.constant("stream", DType::kI32, 0);
  BufferPtr panel = f.output("panel", DType::kI32, 0);
  BufferPtr out = f.output("out", DType::kI8, 0);
  BufferPtr shape = f.constant("shape", DType::kI32, 0);
  Ex pairs = f.let("pairs", load(shape, Winograd::kShapePairs));
  Ex pixel = f.let("pixel", load(shape, Winograd::kShapePixel));
  Ex row = f.let("row", load(shape, Winograd::kShapeRow));
  int64_t products = 16 + Winograd::kProducts * steps * 2, words = line_words(sign);
  f.loop("pair", 0, pairs, [&](Ex pair) {
    Ex at = f.let("at", pair * (products + 2 * words));
    emit_products(f, stream, panel, at, steps);
    f.loop("t", 0, Winograd::kTiles, [&](Ex t) {
      Ex to = f.let("to", load(panel, t * 2 + Winograd::places_at(steps)) + pair * 2);
      for (int c = 0; c < 2; ++c) {
        auto y = emit_outputs(f, panel, f.let("sums", t * 2 + (Winograd::sums_at(steps) + c)));
        Ex line = f.let("line", at + (products + c * words));
        for (int n = 0; n < 4; ++n) {
          Ex place = to + c;
          if (n % 2 == 1) place = place + pixel;
          if (n >= 2) place = place + row;
          f.store(out, place, line_output(f, y[static_cast<size_t>(n)], stream, line, shift, sign));
        }
      }
    });
  });
  return f.finish_kernel("winograd_pairs", {{"steps", steps}, {"shift", shift}, {"sign", sign}});
}

WinogradWork winograd_work(int64_t columns, int64_t in_channels, int64_t out_channels, bool sign) {
  auto times = [](const Work& work, int64_t n) { return work * static_cast<double>(n); };
  int64_t words = in_channels / 4, pairs = (out_channels + 1) / 2, steps = in_channels / 2;
  Work call{.load = 12, .store = 12, .alu = 14, .branch = 2};
  Work row_word{.load = 4, .store = 4, .alu = 17, .branch = 1};
  Work tile_word{.load = 17, .store = 32, .alu = 34, .branch = 1};
  Work step{.load = 3, .dual = 8};
  Work run{.load = 3, .store = 4, .alu = 4, .branch = 1};
  Work tile{.load = 23, .store = 8, .alu = 46.0 + (sign ? 18 : 0), .high = 8, .branch = 1};
  Work pair =
      Work{.load = 4, .store = 2, .alu = 6, .branch = 1} + times(step, 16 * steps) + times(run, 8) + times(tile, 4);
  return {call + times(row_word, columns * words),
          call + times(call + times(tile_word, words), 4) + times(pair, pairs)};
}

Work WinogradWork::of(int64_t rows, int64_t columns) const {
  const int64_t tile_rows = (rows + 1) / 2, blocks = ((columns + 1) / 2 + 3) / 4;
  return (strip + tiles * static_cast<double>(blocks)) * static_cast<double>(tile_rows);
}

}  // namespace aotc::cores::arm
