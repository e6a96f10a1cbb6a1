// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/dsp/gemm_fours.h"

#include <algorithm>

#include <fmt/format.h>

namespace aotc::cores::arm {

using tir::BufferPtr;
using tir::Ex;
using tir::FunctionBuilder;

std::vector<int32_t> fours_shape(int64_t steps, int64_t groups, int64_t stride, bool sign) {
  // The first step is outside of the loop.
  const int64_t entry = loop_entry(steps - 1, FourGemm::kUnroll, FourGemm::kStepInstructions);
  return as_words({steps, groups, stride, entry, steps * FourGemm::kPixels * 4,
                   groups * (4 + 2 * steps + FourGemm::kChannels * line_words(sign)) * 4});
}

FoursForm fours_form(int64_t steps, int64_t groups) {
  constexpr int64_t kEntry = 5, kTurn = 6;  // cycles of the jump, and of the loop's end
  const int64_t rest = steps - 1;
  auto turns = [&](int64_t written) { return (rest + written - 1) / written; };
  const int64_t usual = kEntry + kTurn * turns(FourGemm::kUnroll);
  FoursForm best;
  int64_t least = usual;
  for (int64_t n = std::min<int64_t>(rest, FourGemm::kMostWritten); n > 0; --n) {
    const bool loop = n < rest;
    if (rest % n != 0 || (loop && n < FourGemm::kLeastWritten)) continue;
    const int64_t own = loop ? kTurn * turns(n) : 0;
    const auto bytes = static_cast<double>(n * FourGemm::kStepInstructions * 4);
    if (own >= least || static_cast<double>((usual - own) * groups) < FourGemm::kCyclesPerByte * bytes) continue;
    least = own;
    best = {n, loop};
  }
  return best;
}

tir::KernelPtr gemm_fours_kernel(int shift, bool sign, const FoursForm& form) {
  constexpr int64_t kPixels = FourGemm::kPixels, kChannels = FourGemm::kChannels;
  FunctionBuilder f("gemm_fours");
  const auto [stream, panel, out, shape, steps, groups] = gemm_parameters(f, DType::kI8, "groups");
  Ex stride = f.let("stride", load(shape, PairGemm::kShapeStride));
  const int64_t words = line_words(sign);
  f.loop("group", 0, groups, [&](Ex group) {
    Ex at = f.let("at", group * (steps * 2 + (4 + kChannels * words)));
    std::vector<Ex> acc;
    for (int64_t p = 0; p < kPixels; ++p)
      for (int64_t c = 0; c < kChannels; ++c) acc.push_back(f.var(fmt::format("acc{}{}", p, c), load(stream, at + c)));
    f.loop("i", 0, steps, [&](Ex i) {
      for (int64_t c = 0; c < kChannels; c += 2) {
        Ex w = f.let(fmt::format("w{}", c / 2), load(stream, at + 4 + i * 2 + c / 2));
        for (int64_t p = 0; p < kPixels; ++p) {
          Ex x = f.let("x", load(panel, i * kPixels + p));
          const Ex &a = acc[static_cast<size_t>(p * kChannels + c)],
                   &b = acc[static_cast<size_t>(p * kChannels + c + 1)];
          f.assign(a, dot_low_bytes(a, x, w));
          f.assign(b, dot_words(b, x, w));
        }
      }
    });
    Ex line = f.let("line", at + 4 + steps * 2);
    for (int64_t p = 0; p < kPixels; ++p)
      for (int64_t c = 0; c < kChannels; ++c) {
        const Ex& own = acc[static_cast<size_t>(p * kChannels + c)];
        Ex scaled = f.let("a", c % 2 == 0 ? shl_wrapping(own, PairGemm::kLeft)
                                          : sub_wrapping(own, acc[static_cast<size_t>(p * kChannels + c - 1)]));
        f.store(out, f.let("to", p * stride + group * kChannels + c),
                line_output(f, scaled, stream, line + c * words, shift, sign));
      }
  });
  std::vector<std::pair<std::string, int64_t>> parameters = {{"shift", shift}, {"sign", sign}};
  if (form.written > 0) parameters.insert(parameters.end(), {{"written", form.written}, {"loop", form.loop}});
  return f.finish_kernel("gemm_fours", std::move(parameters));
}

Work fours_work(int64_t steps, int64_t groups, bool sign) {
  constexpr auto kOutputs = static_cast<double>(FourGemm::kPixels * FourGemm::kChannels);
  const Work step{.load = 4, .alu = 2, .dual = 8};
  const Work pass{.load = 1, .alu = 1, .branch = 1};
  const Work finish{.store = kOutputs / 2, .alu = 2.5 * kOutputs + (sign ? 2 * kOutputs : 0), .high = kOutputs};
  Work group{.load = sign ? 8.0 : 6.0, .store = 1, .alu = 1, .branch = 2};
  group += step * static_cast<double>(steps) +
           pass * static_cast<double>((steps + FourGemm::kUnroll - 1) / FourGemm::kUnroll) + finish;
  return Work{.load = 12, .store = 12, .alu = 6, .branch = 4} + group * static_cast<double>(groups);
}

}  // namespace aotc::cores::arm
