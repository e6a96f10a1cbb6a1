// SPDX-License-Identifier: Apache-2.0
// Which form and which numbers random requantisations get. They are right or they are
// not given (step_fit_test); here it shows when another is found than before, or none any more.
#include <cmath>

#include <gtest/gtest.h>

#include "../plan/packing_oracle.h"
#include "../support/record.h"
#include "ops/common/requantize.h"
#include "ops/common/step_fit.h"

namespace aotc::ops {
namespace {

using plan::TestRandom;

uint64_t mixed(uint64_t hash, int64_t value) { return (hash ^ static_cast<uint64_t>(value)) * 1099511628211u; }

std::string words(const std::optional<WordFit>& fit) {
  if (!fit) return "none";
  uint64_t hash = 14695981039346656037u;
  for (int32_t word : fit->words) hash = mixed(hash, word);
  return "left " + std::to_string(fit->left) + " base " + std::to_string(fit->base) + " low " +
         std::to_string(fit->low_bits) + " first " + std::to_string(fit->first) + " sign " + std::to_string(fit->sign) +
         " words " + std::to_string(hash);
}

std::string line(const std::optional<LineFit>& fit) {
  if (!fit) return "none";
  uint64_t hash = 14695981039346656037u;
  for (const LineFit::Channel& c : fit->channels)
    for (int32_t value : {c.multiplier, c.offset, c.left, c.sign, c.moved}) hash = mixed(hash, value);
  return "left " + std::to_string(fit->channels[0].left) + (fit->same_left ? "" : " and others") + " shift " +
         std::to_string(fit->shift) + (fit->with_sign ? " sign" : "") + " channels " + std::to_string(hash);
}

Requantization random_layer(TestRandom& random, int round) {
  Requantization out;
  constexpr Rounding kRoundings[] = {Rounding::kDouble, Rounding::kSingle, Rounding::kDouble, Rounding::kDivide};
  out.rounding = kRoundings[round % 4];
  out.clamp = {round % 5 == 0 ? 0 : -128, round % 7 == 0 ? 32767 : 127};
  if (out.clamp.max > 127) out.clamp.min = -32768;
  out.zero_point = static_cast<int32_t>(random.range(-128, 127));
  const int channels = 1 + round % 5;
  const int64_t spread = round % 3 == 0 ? 1 : 6;
  for (int c = 0; c < channels; ++c) {
    const auto exponent = static_cast<int>(-20 - 6 - random.range(0, spread));
    double scale = std::ldexp(static_cast<double>(random.range(1 << 20, (1 << 21) - 1)), exponent);
    if (out.rounding == Rounding::kDivide) scale = 1.0 / static_cast<double>(random.range(1, 90));
    out.scales.push_back(scale);
    int64_t low = -random.range(10, 60'000), high = random.range(10, 60'000);
    if (random.one_in(8)) low = high;  // a constant channel
    if (random.one_in(8)) low *= 3000, high *= 3000;
    out.ranges.push_back({low, high});
  }
  return out;
}

// Of layers of a few channels the words alone, which are found soon.
TEST(StepFitRecord, WordsOfRandomLayers) {
  std::string all;
  TestRandom random(6);
  for (int round = 0; round < 80; ++round) {
    Requantization what = random_layer(random, round);
    std::vector<StepTarget> targets;
    for (size_t c = 0; c < what.scales.size(); ++c)
      targets.push_back({what.reference(c), what.scales[c], what.ranges[c]});
    auto steps = find_steps(targets, what.zero_point, what.clamp);
    if (!steps) continue;
    const bool two = what.rounding == Rounding::kDouble;
    all += std::to_string(round) + " words: " + words(fit_words(*steps, what.zero_point, what.clamp, two)) + "\n";
  }
  expect_record("step_fit_words.txt", all);
}

TEST(StepFitRecord, RandomLayers) {
  std::string all;
  TestRandom random(5);
  for (int round = 0; round < 60; ++round) {
    Requantization what = random_layer(random, round);
    std::vector<StepTarget> targets;
    for (size_t c = 0; c < what.scales.size(); ++c)
      targets.push_back(
          {[&what, c](int32_t acc) -> int64_t { return what.apply(acc, c); }, what.scales[c], what.ranges[c]});
    auto steps = find_steps(targets, what.zero_point, what.clamp);
    std::string name = std::to_string(round);
    if (!steps) {
      all += name + " no steps\n";
      continue;
    }
    const bool two = what.rounding == Rounding::kDouble;
    all += name + " words: " + words(fit_words(*steps, what.zero_point, what.clamp, two)) + "\n";
    all += name + " lines: " + line(fit_lines(*steps, what.clamp)) + "\n";
    if (round % 4 == 0) {
      all += name + " moved: " + line(fit_moved_lines(*steps, what.clamp, 6)) + "\n";
      all += name + " left: " + line(fit_lines(*steps, what.clamp, 4)) + "\n";
      all += name + " at: " + line(fit_line_at(*steps, what.clamp, 6, 10)) + "\n";
    }
    std::vector<int32_t> bias(what.scales.size(), 100);
    Requantization tamed = what;
    tamed.tame_constant_channels(bias);
    uint64_t hash = 14695981039346656037u;
    for (size_t c = 0; c < bias.size(); ++c) {
      hash = mixed(hash, bias[c]);
      hash = mixed(hash, tamed.ranges[c].low);
    }
    all += name + " tamed: " + std::to_string(hash) + ", common line " + line(fit_common_line(what, 8, bias)) + "\n";
  }
  expect_record("step_fit.txt", all);
}

}  // namespace
}  // namespace aotc::ops
