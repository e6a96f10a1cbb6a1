// SPDX-License-Identifier: Apache-2.0
// What calls of the kernels of cores/arm/dsp/gemm.h run, for choosing among them.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "cores/arm/dsp/gemm.h"
#include "cores/instruction_counter.h"

namespace aotc::cores::arm {

namespace {

Work work_times(const Work& work, int64_t n) { return work * static_cast<double>(n); }

}  // namespace

Work gemm_work(bool words, int64_t pixels, int64_t steps, int64_t pairs, bool sign) {
  // Steps of three pixels for one end of their loop. It has more steps, but its end takes twice as many cycles as
  // instructions, which decides between pairs and words.
  constexpr int64_t kTriplePass = 12;
  auto p = static_cast<double>(pixels);
  const bool triple = !words && pixels == 3, even = !words && takes_even(pixels, steps);
  double panel_loads = pixels == 4 ? 2 : even ? 0.5 : 1;
  Work step{.load = panel_loads + (triple ? 1.0 / 3 : even ? 0.25 : 1), .alu = words ? 0.0 : 1.0, .dual = 2 * p};
  int64_t unroll = words    ? PairGemm::kWordsUnroll
                   : triple ? kTriplePass
                   : even   ? 4 * PairGemm::kEvenUnroll
                            : PairGemm::kUnroll;
  Work pass{.load = 1, .alu = 1, .branch = 1};
  // Multiply, saturate and store two channels; what they share is taken apart first.
  Work finish{.store = p, .alu = (words ? 3 : 5) * p + (sign ? 4 * p : 0), .high = 2 * p};
  const bool turns = triple || even;  // of several steps
  Work pair{.load = (turns ? 6.0 : 4.0) + (sign ? 1 : 0), .store = 1, .alu = turns ? 2.0 : 1.0, .branch = 2};
  pair += work_times(step, steps) + work_times(pass, (steps + unroll - 1) / unroll) + finish;
  return Work{.load = 12, .store = 12, .alu = 6, .branch = 4} + work_times(pair, pairs);
}

Work mixed_work(int64_t pixels, int64_t pairs, int64_t floats) {
  // What is rounded to even is moved to the FPU and back, multiplied, converted, clamped.
  const auto p = static_cast<double>(pixels);
  return work_times(Work{.load = 1, .alu = 1, .branch = 1}, pairs) +
         work_times(Work{.alu = 10 * p, .branch = 2}, floats);
}

Work pack_work(int64_t pixels, int64_t words, int64_t rows) {
  if (words == 0) return {};
  auto p = static_cast<double>(pixels);
  Work word{.load = p, .store = static_cast<double>((pixels + 1) / 2 + 1), .alu = 2 * p + 1, .branch = 1};
  Work row{.alu = 3, .branch = 1};
  return Work{.load = 12, .store = 10, .alu = 20, .branch = 3} + work_times(work_times(word, words) + row, rows);
}

Work gemv_work(bool words, int64_t steps, int64_t groups, bool sign) {
  double channels = words ? PairGemm::kWordsGemvChannels : PairGemm::kGemvChannels;
  int64_t taken = words ? PairGemm::kWordsGemvSteps : 2;  // steps at a time
  int64_t unroll = words ? PairGemm::kWordsGemvUnroll : PairGemm::kGemvUnroll;
  Work step = words ? Work{.load = 5, .dual = 16} : Work{.load = 4, .alu = 8, .dual = 16};
  int64_t units = steps / taken;
  Work pass{.load = 1, .alu = 1, .branch = 1};
  Work finish{.load = sign    ? channels
                      : words ? 1
                              : channels / 2,
              .store = channels,
              .alu = (words ? 1 : 2) * channels + (sign ? 2 * channels : 0),
              .high = channels};
  Work group{.load = 4, .store = 1, .alu = 1, .branch = 2};
  group += work_times(step, units) + work_times(pass, (units + unroll - 1) / unroll) + finish;
  return Work{.load = 12, .store = 12, .alu = 12, .branch = 4} + work_times(group, groups);
}

Work GemmShape::work(bool as_words, int64_t tile, bool sign) const {
  Work element{.load = 1, .store = 1, .alu = 4};
  int64_t steps = 2 * rows * words + (rest + 1) / 2;
  Work one = gemm_work(as_words, tile, steps, (channels + 1) / 2, sign) + pack_work(tile, words, rows) +
             work_times(element, rest * tile);
  return work_times(one, (pixels + tile - 1) / tile);
}

double GemmShape::least_cost(const Costs& costs, bool as_words, bool sign) const {
  double least = std::numeric_limits<double>::infinity();
  for (int64_t tile = 1; tile <= std::min<int64_t>(4, pixels); ++tile)
    least = std::min(least, costs.of(work(as_words, tile, sign)));
  return least;
}

std::optional<Lowered> faster_form(const OpView& op, const TargetInfo& target,
                                   std::optional<Lowered> (*lower)(const OpView& op, const TargetInfo& target)) {
  std::optional<Lowered> words = lower(op, target);
  const bool asked = target.asked != nullptr && target.asked->algorithm == "words";
  if (target.level != Level::kSpeed || asked || !words || words->schedule.algorithm != "words") return words;
  TargetInfo balanced = target;
  balanced.level = Level::kBalanced;
  std::optional<Lowered> pairs = lower(op, balanced);
  if (!pairs) return words;
  const double by_words = cost_of(*words, target).cycles, by_pairs = cost_of(*pairs, target).cycles;
  return by_pairs > 0 && by_pairs <= by_words ? std::move(pairs) : std::move(words);
}

}  // namespace aotc::cores::arm
