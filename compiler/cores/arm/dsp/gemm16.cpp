// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/dsp/gemm16.h"

#include <array>
#include <initializer_list>

#include <fmt/format.h>

namespace aotc::cores::arm {

using tir::BufferPtr;
using tir::Ex;
using tir::FunctionBuilder;
using tir::KernelPtr;

namespace {

// The pair of taps of channel a (bytes 0 and 2) or b (1 and 3) times a word of two elements.
Ex dot_bytes(const Ex& acc, const Ex& x, const Ex& w, int first) {
  auto byte = [&](int i) { return shl_wrapping(w, 24 - 8 * i) >> 24; };
  return add_wrapping(add_wrapping(acc, mul_wrapping(low_half(x), byte(first))),
                      mul_wrapping(high_half(x), byte(first + 2)));
}

Ex halves_output(const Ex& acc, const Ex& multiplier, bool relu, int shift) {
  Ex product = cast(DType::kI64, acc) * cast(DType::kI64, multiplier);
  if (shift == 0) product = product + tir::i64(int64_t{1} << 31);
  Ex q = cast(DType::kI32, product >> tir::i64(32));
  return clamp(shift > 0 ? q >> shift : q, relu ? 0 : -32768, 32767);
}

}  // namespace

std::optional<HalvesScaling> fit_halves(const WideScaling& scaling) {
  HalvesScaling out;
  bool bounds = scaling.clamp.max == 32767 && (scaling.clamp.min == 0 || scaling.clamp.min == -32768);
  auto multipliers = high_multipliers(scaling);
  if (!bounds || !multipliers) return std::nullopt;
  return HalvesScaling{std::move(*multipliers), scaling.clamp.min == 0, scaling.shift};
}

namespace {

// Taps `step` of channels a and a + 1.
int32_t pair_of_taps(const std::vector<int8_t>& weights, int64_t k, const std::array<int, 2>& step, int64_t a) {
  uint32_t word = 0;
  for (size_t half = 0; half < 2; ++half)
    for (int64_t c = 0; c < 2 && step[half] >= 0; ++c) {
      auto tap = static_cast<uint8_t>(weights[static_cast<size_t>((a + c) * k + step[half])]);
      word |= uint32_t{tap} << (16 * half + 8 * static_cast<size_t>(c));
    }
  return static_cast<int32_t>(word);
}

}  // namespace

std::vector<int32_t> halves_stream(const std::vector<int8_t>& weights, int64_t k, const PairOrder& order,
                                   const std::vector<int64_t>& first, const std::vector<int32_t>& bias,
                                   const HalvesScaling& scaling) {
  std::vector<int32_t> out;
  for (int64_t a : first) {
    for (int64_t c = a; c < a + 2; ++c) out.push_back(bias[static_cast<size_t>(c)]);
    for (const auto& step : order) out.push_back(pair_of_taps(weights, k, step, a));
    for (int64_t c = a; c < a + 2; ++c) out.push_back(scaling.multipliers[static_cast<size_t>(c)]);
  }
  return out;
}

std::vector<int32_t> halves_shape(int64_t steps, int64_t pairs, int64_t stride, int64_t pixels) {
  // The first step is outside of the loop.
  int64_t entry = loop_entry(steps - 1, HalvesGemm::kUnroll, HalvesGemm::kStepInstructions[pixels]);
  return as_words({steps, pairs, stride, entry, steps * pixels * 4, pairs * (4 + steps) * 4});
}

std::vector<int32_t> halves_vector_stream(const std::vector<int8_t>& weights, int64_t depth,
                                          const std::vector<int64_t>& first, const std::vector<int32_t>& bias) {
  std::vector<int32_t> out;
  for (int64_t g : first) {
    for (int64_t c = g; c < g + HalvesGemm::kGemvChannels; ++c) out.push_back(bias[static_cast<size_t>(c)]);
    for (int i = 0; i < depth; i += 2)
      for (int64_t c = g; c < g + HalvesGemm::kGemvChannels; c += 2)
        out.push_back(pair_of_taps(weights, depth, {i, i + 1}, c));
  }
  return out;
}

std::vector<int32_t> halves_vector_shape(int64_t steps, int64_t groups) {
  int64_t entry = loop_entry(steps, HalvesGemm::kGemvUnroll, HalvesGemm::kGemvInstructions);
  return as_words({steps, groups, 0, entry, steps * 4, groups * (8 + 4 * steps) * 4});
}

KernelPtr gemv_halves_kernel() {
  FunctionBuilder f("gemv_halves");
  BufferPtr stream = f.constant("stream", DType::kI32, 0);
  BufferPtr x = f.input("x", DType::kI16, 0);
  BufferPtr sums = f.output("sums", DType::kI32, 0);
  BufferPtr shape = f.constant("shape", DType::kI32, 0);
  Ex steps = f.let("steps", load(shape, PairGemm::kShapeSteps));
  Ex groups = f.let("groups", load(shape, PairGemm::kShapePairs));
  f.loop("group", 0, groups, [&](Ex group) {
    Ex at = f.let("at", group * (steps * 4 + 8));
    std::vector<Ex> acc;
    for (int64_t c = 0; c < 8; ++c) acc.push_back(f.var(fmt::format("acc{}", c), load(stream, at + c)));
    f.loop("i", 0, steps, [&](Ex i) {
      Ex word = f.let("x", pair_word(load(x, i * 2), load(x, i * 2 + 1)));
      for (int64_t pair = 0; pair < 4; ++pair) {
        Ex w = f.let(fmt::format("w{}", pair), load(stream, at + 8 + i * 4 + pair));
        for (int c = 0; c < 2; ++c) {
          const Ex& own = acc[static_cast<size_t>(2 * pair + c)];
          f.assign(own, dot_bytes(own, word, w, c));
        }
      }
    });
    for (int64_t c = 0; c < 8; ++c) f.store(sums, group * 8 + c, acc[static_cast<size_t>(c)]);
  });
  return f.finish_kernel("gemv_halves", {});
}

Work halves_vector_work(int64_t steps, int64_t groups) {
  auto passes = static_cast<double>((steps + HalvesGemm::kGemvUnroll - 1) / HalvesGemm::kGemvUnroll);
  Work step{.load = 3, .alu = 8, .dual = 8};
  Work group{.load = 7, .store = 2, .alu = 2, .branch = 2};
  group += step * static_cast<double>(steps) + Work{.load = 1, .alu = 1, .branch = 1} * passes;
  return Work{.load = 12, .store = 12, .alu = 12, .branch = 4} + group * static_cast<double>(groups);
}

KernelPtr gemm_halves_kernel(int64_t pixels, bool relu, int shift) {
  FunctionBuilder f("gemm_halves");
  const auto [stream, panel, out, shape, steps, pairs] = gemm_parameters(f, DType::kI16, "pairs");
  Ex stride = f.let("stride", load(shape, PairGemm::kShapeStride) >> 1);
  f.loop("pair", 0, pairs, [&](Ex pair) {
    Ex at = f.let("at", pair * (steps + 4));
    std::vector<Ex> acc;
    for (int64_t p = 0; p < pixels; ++p)
      for (int64_t c = 0; c < 2; ++c) acc.push_back(f.var(fmt::format("acc{}{}", p, c), load(stream, at + c)));
    f.loop("i", 0, steps, [&](Ex i) {
      Ex w = f.let("w", load(stream, at + 2 + i));
      for (int64_t p = 0; p < pixels; ++p) {
        Ex x = f.let(fmt::format("x{}", p), load(panel, i * pixels + p));
        auto own = static_cast<size_t>(2 * p);
        f.assign(acc[own], dot_bytes(acc[own], x, w, 0));
        f.assign(acc[own + 1], dot_bytes(acc[own + 1], x, w, 1));
      }
    });
    for (int64_t p = 0; p < pixels; ++p)
      for (int64_t c = 0; c < 2; ++c) {
        Ex v = halves_output(acc[static_cast<size_t>(2 * p + c)], load(stream, at + 2 + steps + c), relu, shift);
        f.store(out, p * stride + pair * 2 + c, f.let("v", v));
      }
  });
  std::vector<std::pair<std::string, int64_t>> parameters = {{"pixels", pixels}, {"relu", relu}};
  if (shift > 0) parameters.emplace_back("shift", shift);
  return f.finish_kernel("gemm_halves", std::move(parameters));
}

namespace {

Ex word_at(const BufferPtr& x, const Ex& at) { return pair_word(load(x, at), load(x, at + 1)); }

}  // namespace

KernelPtr pack_halves_kernel(int64_t pixels) {
  FunctionBuilder f("pack_halves");
  BufferPtr x = f.input("x", DType::kI16, 0);
  BufferPtr panel = f.output("panel", DType::kI32, 0);
  BufferPtr shape = f.constant("shape", DType::kI32, 0);
  Ex stride = f.let("stride", load(shape, PairGemm::kPackPixelStride) >> 1);
  Ex words = f.let("words", load(shape, PairGemm::kPackWords));
  Ex rows = f.let("rows", load(shape, PairGemm::kPackRows));
  Ex skip = f.let("skip", load(shape, PairGemm::kPackRowSkip) >> 1);
  f.loop("row", 0, rows, [&](Ex row) {
    f.loop("word", 0, words, [&](Ex word) {
      Ex from = f.let("from", row * (words * 2 + skip) + word * 2);
      Ex to = f.let("to", (row * words + word) * pixels);
      for (int64_t p = 0; p < pixels; ++p) f.store(panel, to + p, word_at(x, from + p * stride));
    });
  });
  return f.finish_kernel("pack_halves", {{"pixels", pixels}});
}

KernelPtr pack_halves_run_kernel(int64_t pixels) {
  FunctionBuilder f("pack_halves_run");
  BufferPtr x = f.input("x", DType::kI16, 0);
  BufferPtr panel = f.output("panel", DType::kI32, 0);
  Ex words = f.scalar("words");
  f.loop("word", 0, words, [&](Ex word) { f.store(panel, word * pixels, word_at(x, word * 2)); });
  return f.finish_kernel("pack_halves_run", {{"pixels", pixels}});
}

Work halves_work(int64_t pixels, int64_t steps, int64_t pairs) {
  auto p = static_cast<double>(pixels);
  Work step{.load = (pixels == 4 ? 2.0 : 1.0) + 1, .alu = 2, .dual = 2 * p};
  auto passes = static_cast<double>((steps + HalvesGemm::kUnroll - 1) / HalvesGemm::kUnroll);
  Work pair{.load = 7, .store = 1 + 2 * p, .alu = 2 + 3 * p, .high = 2 * p, .branch = 2};
  pair += step * static_cast<double>(steps) + Work{.load = 1, .alu = 1, .branch = 1} * passes;
  return Work{.load = 12, .store = 12, .alu = 12, .branch = 4} + pair * static_cast<double>(pairs);
}

Work pack_halves_work(int64_t pixels, int64_t words, int64_t rows) {
  Work word{.load = static_cast<double>(pixels), .store = static_cast<double>((pixels + 1) / 2), .alu = 1, .branch = 1};
  Work row = word * static_cast<double>(words) + Work{.alu = 3, .branch = 1};
  return Work{.load = 12, .store = 10, .alu = 20, .branch = 3} + row * static_cast<double>(rows);
}

}  // namespace aotc::cores::arm
