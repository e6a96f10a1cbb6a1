// SPDX-License-Identifier: Apache-2.0
#include "cores/riscv/winograd.h"

#include <algorithm>
#include <array>

namespace aotc::cores::riscv {

using ops::TripleGemm;
using tir::BufferPtr;
using tir::Ex;
using tir::FunctionBuilder;

namespace {

constexpr int64_t kTaps = 3;

int64_t round_up(int64_t v, int64_t to) { return (v + to - 1) / to * to; }

// Whether twice the sums of every segment stay in their lanes, whatever the pixels.
bool lanes_hold(const std::vector<int8_t>& weights, int64_t channels, int64_t rows, int64_t in, int64_t segment) {
  constexpr int64_t kLimit = int64_t{1} << (TripleGemm::kLane - 1);
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t begin = 0; begin < rows * in; begin += segment) {
      int64_t low = 0, high = 0;
      for (int64_t i = begin; i < std::min(rows * in, begin + segment); ++i)
        for (int64_t x = 0; x < kTaps; ++x) {
          const int64_t w = weights[static_cast<size_t>(((c * rows + i / in) * kTaps + x) * in + i % in)];
          low += 2 * std::min(-128 * w, 127 * w);
          high += 2 * std::max(-128 * w, 127 * w);
        }
      if (low < -kLimit || high >= kLimit) return false;
    }
  return true;
}

}  // namespace

std::optional<Winograd> plan_winograd(const std::vector<int8_t>& weights, int64_t channels, int64_t rows, int64_t in) {
  Winograd plan;
  plan.k = rows * in;
  for (int64_t n = 1;; ++n) {
    plan.segment = round_up((plan.k + n - 1) / n, Winograd::kUnroll);
    plan.segments = (plan.k + plan.segment - 1) / plan.segment;
    if (lanes_hold(weights, channels, rows, in, plan.segment)) return plan;
    if (plan.segment == Winograd::kUnroll) return std::nullopt;
  }
}

std::vector<int32_t> winograd_stream(const Winograd& plan, const std::vector<int8_t>& weights, int64_t rows, int64_t in,
                                     const std::vector<int64_t>& first, const std::vector<int32_t>& bias,
                                     const ops::LineFit& fit) {
  auto tap = [&](int64_t c, int64_t step, int64_t x) {
    if (step >= plan.k) return 0;
    return int{weights[static_cast<size_t>(((c * rows + step / in) * kTaps + x) * in + step % in)]};
  };
  std::vector<int32_t> out;
  for (int64_t begin : first) {
    std::vector<uint8_t> bytes;
    for (int64_t s = 0; s < plan.segments; ++s) {
      auto each = [&](auto put) {
        for (int64_t i = s * plan.segment; i < (s + 1) * plan.segment; ++i)
          for (int64_t c = begin; c < begin + Winograd::kChannels; ++c) put(c, i);
      };
      for (int sign : {1, -1})
        each([&](int64_t c, int64_t i) {
          const int w = tap(c, i, 0) + sign * tap(c, i, 1) + tap(c, i, 2);
          bytes.push_back(static_cast<uint8_t>(w & 0xFF));
          bytes.push_back(static_cast<uint8_t>(w >> 8 & 0xFF));
        });
      for (int64_t x : {0, 2}) each([&](int64_t c, int64_t i) { bytes.push_back(static_cast<uint8_t>(tap(c, i, x))); });
    }
    for (size_t i = 0; i < bytes.size(); i += 4)
      out.push_back(static_cast<int32_t>(bytes[i] | uint32_t{bytes[i + 1]} << 8 | uint32_t{bytes[i + 2]} << 16 |
                                         uint32_t{bytes[i + 3]} << 24));
    for (int64_t c = begin; c < begin + Winograd::kChannels; ++c) {
      const ops::LineFit::Channel& line = fit.channels[fit.channels.size() == 1 ? 0 : static_cast<size_t>(c)];
      out.push_back(static_cast<int32_t>(static_cast<uint32_t>(bias[static_cast<size_t>(c)]) << Winograd::kLeft));
      out.push_back(line.multiplier);
      out.push_back(line.offset);
      if (fit.with_sign) out.push_back(line.sign);
    }
  }
  return out;
}

std::vector<int32_t> winograd_shape(const Winograd& plan, int64_t groups, int64_t stride, bool sign) {
  std::vector<int32_t> out(Winograd::kShapeWords);
  out[Winograd::kGroups] = static_cast<int32_t>(groups);
  out[Winograd::kStride] = static_cast<int32_t>(stride);
  out[Winograd::kSteps] = static_cast<int32_t>(plan.segment);
  out[Winograd::kSegments] = static_cast<int32_t>(plan.segments);
  out[Winograd::kPanelBytes] = static_cast<int32_t>(4 * plan.segment * Winograd::kStepWords);
  out[Winograd::kStreamBytes] = static_cast<int32_t>(4 * groups * plan.group_words(sign));
  return out;
}

tir::KernelPtr winograd_columns_kernel(const ops::WindowAxis& y, int64_t width, int64_t in) {
  const int64_t row_elements = width * in;
  FunctionBuilder f("winograd_columns");
  BufferPtr x = f.input("x", DType::kI8, 0);
  BufferPtr blank = f.constant("blank", DType::kI8, 0);
  BufferPtr panel = f.output("panel", DType::kI32, 0);
  BufferPtr table = f.input("table", DType::kI32, 0);
  auto word = [&](int64_t tile, int64_t of) { return load(table, tile * Winograd::kTileWords + of); };
  f.loop("ky", 0, y.kernel, [&](const Ex& ky) {
    f.loop("c", 0, in, [&](const Ex& c) {
      std::array<std::array<Ex, Winograd::kColumns>, Winograd::kTiles> v;
      for (int64_t t = 0; t < Winograd::kTiles; ++t) {
        Ex iy = f.let("iy", word(t, Winograd::kRow) + ky * y.dilation);
        Ex in_rows = f.let("in_rows", select(iy >= 0 && iy < y.in, Ex(1), Ex(0)));
        Ex at = f.let("at", word(t, Winograd::kElement) + ky * (y.dilation * row_elements) + c);
        for (int64_t j = 0; j < Winograd::kColumns; ++j) {
          Ex inside = in_rows != 0;
          if (j == 0) inside = inside && word(t, Winograd::kLeftEdge) == 0;
          if (j == Winograd::kColumns - 1) inside = inside && word(t, Winograd::kRightEdge) == 0;
          v[static_cast<size_t>(t)][static_cast<size_t>(j)] =
              f.let("v", select(inside, load(x, at + j * in), load(blank, c)));
        }
      }
      auto difference = [&](int64_t t, int64_t j) {
        auto of = [&](int64_t column) { return v[static_cast<size_t>(t)][static_cast<size_t>(column)]; };
        if (j == 0) return (of(0) - of(2)) * 2;
        if (j == 3) return (of(3) - of(1)) * 2;
        return j == 1 ? of(1) + of(2) : of(2) - of(1);
      };
      for (int64_t j = 0; j < Winograd::kProducts; ++j) {
        Ex to = f.let("to", (ky * in + c) * Winograd::kStepWords + j * TripleGemm::kWords);
        ops::emit_triple(f, panel, to, {difference(0, j), difference(1, j), difference(2, j)});
      }
    });
  });
  return f.finish_kernel(
      "winograd_columns_rv32",
      {{"channels", in}, {"rows", y.kernel}, {"dilation", y.dilation}, {"height", y.in}, {"width", width}});
}

namespace {

// Weight `at` of those of 16 bits, or of the bytes, that begin at stream[from].
Ex weight_at(const BufferPtr& stream, const Ex& from, const Ex& step, int64_t c, int64_t bytes) {
  const int64_t lanes = 4 / bytes, bits = 8 * bytes;
  Ex word = load(stream, from + step * (Winograd::kChannels / lanes) + c / lanes);
  return shl_wrapping(word, bits * (lanes - 1 - c % lanes)) >> (32 - static_cast<int>(bits));
}

using Words = std::array<std::array<Ex, 2>, Winograd::kChannels>;

// Adds the products of a segment's steps, whose first is the panel's `begin`, to `sums`.
void add_products(FunctionBuilder& f, const BufferPtr& stream, const Ex& from, const BufferPtr& panel, const Ex& begin,
                  const Ex& steps, int64_t product, const Words& sums) {
  f.loop("i", 0, steps, [&](const Ex& i) {
    for (int64_t c = 0; c < Winograd::kChannels; ++c) {
      Ex w = f.let("w", weight_at(stream, from, i, c, product == 1 || product == 2 ? 2 : 1));
      for (int64_t half = 0; half < TripleGemm::kWords; ++half) {
        const Ex& sum = sums[static_cast<size_t>(c)][static_cast<size_t>(half)];
        Ex v = load(panel, (begin + i) * Winograd::kStepWords + product * TripleGemm::kWords + half);
        f.assign(sum, add_wrapping(sum, mul_wrapping(v, w)));
      }
    }
  });
}

}  // namespace

tir::KernelPtr winograd_triples_kernel(int shift, bool sign) {
  constexpr int64_t kChannels = Winograd::kChannels;
  FunctionBuilder f("winograd_triples");
  BufferPtr stream = f.constant("stream", DType::kI32, 0);
  BufferPtr panel = f.input("panel", DType::kI32, 0);
  BufferPtr out = f.output("out", DType::kI8, 0);
  BufferPtr shape = f.constant("shape", DType::kI32, 0);
  Ex groups = f.let("groups", load(shape, Winograd::kGroups));
  Ex stride = f.let("stride", load(shape, Winograd::kStride));
  Ex steps = f.let("steps", load(shape, Winograd::kSteps));
  Ex segments = f.let("segments", load(shape, Winograd::kSegments));
  Ex sums_words = f.let("sums_words", steps * (kChannels / 2)),
     bytes_words = f.let("bytes_words", steps * (kChannels / 4));
  Ex segment_words = f.let("segment_words", (sums_words + bytes_words) * 2);
  Ex group_words = f.let("group_words", segment_words * segments + kChannels * Winograd::line_words(sign));
  f.loop("group", 0, groups, [&](const Ex& group) {
    Ex at = f.let("at", group * group_words);
    std::array<std::array<std::array<Ex, Winograd::kTiles>, Winograd::kTileOutputs>, kChannels> total;
    for (auto& channel : total)
      for (auto& output : channel)
        for (Ex& t : output) t = f.var("t", 0);
    f.loop("segment", 0, segments, [&](const Ex& segment) {
      Ex from = f.let("from", at + segment * segment_words), begin = f.let("begin", segment * steps);
      Words both, even, odd;
      for (Words* words : {&both, &even, &odd})
        for (auto& channel : *words)
          for (Ex& word : channel) word = f.var("s", 0);
      add_products(f, stream, from, panel, begin, steps, 1, both);
      add_products(f, stream, from + sums_words, panel, begin, steps, 2, even);
      for (size_t c = 0; c < both.size(); ++c)
        for (size_t half = 0; half < 2; ++half) {
          f.assign(odd[c][half], sub_wrapping(both[c][half], even[c][half]));
          f.assign(even[c][half], add_wrapping(both[c][half], even[c][half]));
        }
      Ex bytes = f.let("bytes", from + sums_words * 2);
      add_products(f, stream, bytes, panel, begin, steps, 0, even);
      add_products(f, stream, bytes + bytes_words, panel, begin, steps, 3, odd);
      for (size_t c = 0; c < both.size(); ++c)
        for (size_t output = 0; output < Winograd::kTileOutputs; ++output) {
          std::array<Ex, 3> s = ops::emit_split(f, output == 0 ? even[c] : odd[c]);
          for (size_t t = 0; t < s.size(); ++t) f.assign(total[c][output][t], total[c][output][t] + s[t]);
        }
    });
    Ex lines = f.let("lines", at + segment_words * segments);
    for (int64_t c = 0; c < kChannels; ++c)
      for (int64_t output = 0; output < Winograd::kTileOutputs; ++output)
        for (int64_t t = 0; t < Winograd::kTiles; ++t) {
          Ex twice = total[static_cast<size_t>(c)][static_cast<size_t>(output)][static_cast<size_t>(t)];
          Ex line = lines + c * Winograd::line_words(sign);
          Ex acc = f.let("acc", add_wrapping(shl_wrapping(twice, Winograd::kLeft - 1), load(stream, line)));
          f.store(out, (t * Winograd::kTileOutputs + output) * stride + group * kChannels + c,
                  clamp(f.let("q", ops::line_sum(acc, stream, line + 1, sign)) >> shift, -128, 127));
        }
  });
  return f.finish_kernel("winograd_triples_rv32", {{"shift", shift}, {"sign", sign}});
}

double winograd_columns_cost(const ops::ConvShape& conv) {
  constexpr double kElement = 52, kRow = 70, kCall = 100;
  return kCall + static_cast<double>(conv.window.y.kernel) * (kRow + kElement * static_cast<double>(conv.in_channels));
}

double winograd_triples_cost(const Winograd& plan, int64_t groups, bool sign) {
  constexpr int64_t kCall = 60, kGroup = 160, kSegment = 500, kStep = 168 + 3, kOutput = 10;
  const int64_t outputs = Winograd::kChannels * Winograd::kTiles * Winograd::kTileOutputs;
  const int64_t segments = plan.segments * (kSegment + plan.segment * kStep);
  return static_cast<double>(kCall + groups * (kGroup + segments + outputs * (kOutput + (sign ? 3 : 0))));
}

}  // namespace aotc::cores::riscv
