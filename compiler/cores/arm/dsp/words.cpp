// SPDX-License-Identifier: Apache-2.0
// Streams and meanings of the kernels over words (cores/arm/dsp/gemm.h): a word of the weight stream
// holds two taps of one channel, scaled as the requantisation wants accumulators.
#include <fmt/format.h>

#include "cores/arm/dsp/gemm.h"

namespace aotc::cores::arm {

using tir::BufferPtr;
using tir::Ex;
using tir::FunctionBuilder;
using tir::KernelPtr;

int32_t scaled_word(const std::vector<int8_t>& w, int64_t k, const std::array<int, 2>& step, int64_t c) {
  uint32_t out = 0;
  for (size_t half = 0; half < 2; ++half) {
    if (step[half] < 0) continue;
    auto tap = static_cast<uint32_t>(w[static_cast<size_t>(c * k + step[half])]);
    out |= (tap << PairGemm::kLeft & 0xFFFF) << (16 * half);
  }
  return static_cast<int32_t>(out);
}

std::vector<int32_t> gemm_words_stream(const std::vector<int8_t>& weights, int64_t k, const PairOrder& order,
                                       const std::vector<int64_t>& first, const std::vector<int32_t>& bias,
                                       const PairLines& lines, int64_t group) {
  std::vector<int32_t> out;
  for (int64_t a : first) {
    for (int64_t c = a; c < a + group; ++c) out.push_back(shifted_bias(bias, c, PairGemm::kLeft));
    for (const auto& step : order)
      for (int64_t c = a; c < a + group; ++c) out.push_back(scaled_word(weights, k, step, c));
    if (lines.mixed()) out.push_back(lines.floats[static_cast<size_t>(a)] ? 1 : 0);
    for (int64_t c = a; c < a + group; ++c) put_line(out, lines, c);
  }
  return out;
}

namespace {

// Two accumulators for each pixel, which begin with the biases at stream[at], take the steps of a pair.
std::vector<Ex> words_sums(FunctionBuilder& f, const BufferPtr& stream, const Ex& at, const BufferPtr& panel,
                           const Ex& steps, int64_t pixels) {
  std::vector<Ex> acc;
  for (int64_t p = 0; p < pixels; ++p)
    for (int64_t c = 0; c < 2; ++c) acc.push_back(f.var(fmt::format("acc{}{}", p, c), load(stream, at + c)));
  f.loop("i", 0, steps, [&](Ex i) {
    Ex a = f.let("a", load(stream, at + 2 + i * 2));
    Ex b = f.let("b", load(stream, at + 3 + i * 2));
    for (int64_t p = 0; p < pixels; ++p) {
      Ex x = f.let(fmt::format("x{}", p), load(panel, i * pixels + p));
      auto own = static_cast<size_t>(2 * p);
      f.assign(acc[own], dot_words(acc[own], x, a));
      f.assign(acc[own + 1], dot_words(acc[own + 1], x, b));
    }
  });
  return acc;
}

}  // namespace

KernelPtr gemm_words_sums_kernel(int64_t pixels, int unroll) {
  FunctionBuilder f("gemm_sums");
  const auto [stream, panel, out, shape, steps, pairs] = gemm_parameters(f, DType::kI32, "pairs");
  Ex stride = f.let("stride", load(shape, PairGemm::kShapeStride) >> 2);
  f.loop("pair", 0, pairs, [&](Ex pair) {
    const std::vector<Ex> acc = words_sums(f, stream, f.let("at", pair * (steps * 2 + 2)), panel, steps, pixels);
    for (int64_t p = 0; p < pixels; ++p)
      for (int64_t c = 0; c < 2; ++c)
        f.store(out, pair * 2 + p * stride + c, acc[static_cast<size_t>(2 * p + c)] >> PairGemm::kLeft);
  });
  return f.finish_kernel("gemm_sums", {{"pixels", pixels}, {"words", unroll}});
}

KernelPtr gemm_words_kernel(int64_t pixels, int shift, bool sign, int unroll, bool mixed, const OwnGemm& own) {
  FunctionBuilder f("gemm_words");
  const auto [stream, panel, out, shape, steps, pairs] = gemm_parameters(f, DType::kI8, "pairs");
  Ex stride = f.let("stride", load(shape, PairGemm::kShapeStride));
  const int64_t words = line_words(sign), flag = mixed ? 1 : 0;
  f.loop("pair", 0, pairs, [&](Ex pair) {
    Ex at = f.let("at", pair * (steps * 2 + (2 + flag + 2 * words)));
    const std::vector<Ex> acc = words_sums(f, stream, at, panel, steps, pixels);
    Ex line = f.let("line", at + (2 + flag) + steps * 2);
    auto finish = [&](int by) {
      for (int64_t p = 0; p < pixels; ++p)
        for (int64_t c = 0; c < 2; ++c)
          f.store(out, p * stride + pair * 2 + c,
                  line_output(f, acc[static_cast<size_t>(2 * p + c)], stream, line + c * words, by, sign));
    };
    if (mixed) f.if_(load(stream, line - 1) != 0, [&] { finish(0); }, [&] { finish(shift); });
    else finish(shift);
  });
  std::vector<std::pair<std::string, int64_t>> parameters = {{"pixels", pixels}, {"shift", shift}, {"sign", sign}};
  if (own.steps > 0) {
    parameters.insert(parameters.end(), {{"steps", own.steps}, {"stride", own.stride}, {"unroll", own.unroll}});
    return f.finish_kernel("gemm_words", std::move(parameters));
  }
  if (unroll != PairGemm::kWordsUnroll) parameters.push_back({"unroll", unroll});
  if (mixed) parameters.push_back({"mixed", 1});
  return f.finish_kernel("gemm_words", std::move(parameters));
}

KernelPtr gemv_words_kernel(int shift, bool sign) {
  FunctionBuilder f("gemv_words");
  const auto [stream, panel, out, shape, steps, groups] = gemm_parameters(f, DType::kI8, "groups");
  constexpr int64_t kGroup = PairGemm::kWordsGemvChannels;
  int64_t words = line_words(sign);
  f.loop("group", 0, groups, [&](Ex group) {
    Ex at = f.let("at", group * (steps * kGroup + kGroup * (1 + words)));
    std::vector<Ex> acc;
    for (int64_t c = 0; c < kGroup; ++c) acc.push_back(f.var(fmt::format("acc{}", c), load(stream, at + c)));
    f.loop("i", 0, steps, [&](Ex i) {
      Ex x = f.let("x", load(panel, i));
      for (int64_t c = 0; c < kGroup; ++c) {
        const Ex& own = acc[static_cast<size_t>(c)];
        f.assign(own, dot_words(own, x, load(stream, at + kGroup + i * kGroup + c)));
      }
    });
    Ex line = f.let("line", at + kGroup + steps * kGroup);
    for (int64_t c = 0; c < kGroup; ++c)
      f.store(out, group * kGroup + c,
              line_output(f, acc[static_cast<size_t>(c)], stream, line + c * words, shift, sign));
  });
  return f.finish_kernel("gemv_words", {{"shift", shift}, {"sign", sign}});
}

}  // namespace aotc::cores::arm
