// SPDX-License-Identifier: Apache-2.0
// Fits of requantisation against the reference, over every accumulator of the range.
#include "ops/common/step_fit.h"

#include <functional>
#include <random>

#include <gtest/gtest.h>

#include "ops/common/requantize.h"

namespace aotc::ops {
namespace {

int32_t run_fit(const LineFit& fit, size_t c, int32_t acc, ClampI32 clamp) {
  const LineFit::Channel& p = fit.channels[c];
  auto x = static_cast<int32_t>(static_cast<uint32_t>(acc + p.moved) << p.left);
  int64_t sum = ((static_cast<int64_t>(x) * p.multiplier) >> 32) + p.offset;
  if (acc < 0) sum -= p.sign;
  EXPECT_LT(std::abs(sum), int64_t{1} << 31);
  auto value = static_cast<int32_t>(sum >> fit.shift);
  return std::min(std::max(value, clamp.min), clamp.max);
}

using Fit = std::function<std::optional<LineFit>(const std::vector<Steps>&, ClampI32)>;

// Fits the channels of `what` and compares them everywhere; false if there is no fit.
bool check(
    const Requantization& what,
    const Fit& make = [](const auto& steps, ClampI32 clamp) { return fit_lines(steps, clamp); }) {
  std::vector<StepTarget> targets;
  for (size_t c = 0; c < what.scales.size(); ++c)
    targets.push_back({[&what, c](int32_t acc) -> int64_t { return what.apply(acc, c); },
                       what.scales[c], what.ranges[c]});
  auto steps = find_steps(targets, what.zero_point, what.clamp);
  auto fit = steps ? make(*steps, what.clamp) : std::nullopt;
  if (!fit) return false;
  for (size_t c = 0; c < what.scales.size(); ++c)
    for (int64_t acc = what.ranges[c].low; acc <= what.ranges[c].high; ++acc) {
      auto a = static_cast<int32_t>(acc);
      if (run_fit(*fit, c, a, what.clamp) == what.apply(a, c)) continue;
      ADD_FAILURE() << "scale " << what.scales[c] << " accumulator " << acc << ": "
                    << run_fit(*fit, c, a, what.clamp) << " instead of " << what.apply(a, c);
      return true;
    }
  return true;
}

Requantization layer(std::mt19937& random, Rounding rounding, int32_t zero_point, int32_t least) {
  Requantization out;
  out.rounding = rounding;
  out.zero_point = zero_point;
  out.clamp = {least, 127};
  std::uniform_real_distribution<double> exponent(-11, -6);
  std::uniform_int_distribution<int64_t> end(1000, 60000);
  for (int c = 0; c < 8; ++c) {
    out.scales.push_back(std::exp2(exponent(random)));
    out.ranges.push_back({-end(random), end(random)});
  }
  return out;
}

TEST(StepFit, MatchesRelu) {
  std::mt19937 random(1);
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(check(layer(random, Rounding::kDouble, -128, -128)));
}

TEST(StepFit, MatchesTwoRoundingsOnBothSidesOfZero) {
  std::mt19937 random(2);
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(check(layer(random, Rounding::kDouble, 7, -128)));
}

TEST(StepFit, MatchesSingleRounding) {
  std::mt19937 random(3);
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(check(layer(random, Rounding::kSingle, -5, -128)));
}

// A steep channel bounds the shift of all, and at that shift the offsets of a flat one are too coarse.
TEST(StepFit, MovesFlatChannelsBesideSteepOnes) {
  auto moved = [](const auto& steps, ClampI32 clamp) { return fit_moved_lines(steps, clamp, 8); };
  Requantization what{{0.0119, 1.0517e-4, 1.9523e-4},
                      {{-60000, 60000}, {-428191, 428191}, {-354092, 441253}},
                      Rounding::kDouble,
                      -128,
                      {-128, 127}};
  EXPECT_TRUE(check(what, moved));
  std::mt19937 random(4);
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(check(layer(random, Rounding::kDouble, 7, -128), moved));
}

TEST(StepFit, MatchesTiesOfPowersOfTwo) {
  for (Rounding rounding : {Rounding::kDouble, Rounding::kSingle, Rounding::kDivide}) {
    Requantization what{
        {0.25, 1.0 / 128}, {{-9000, 9000}, {-30000, 30000}}, rounding, 3, {-128, 127}};
    EXPECT_TRUE(check(what));
  }
}

TEST(StepFit, DividesByEveryCount) {
  Requantization what;
  what.rounding = Rounding::kDivide;
  what.clamp = {-128, 127};
  for (int n = 1; n <= 60; ++n) {
    what.scales.push_back(1.0 / n);
    what.ranges.push_back({-128 * n, 127 * n});
  }
  EXPECT_TRUE(check(what));
}

// Channels that training switched off: one value, however large the accumulator.
TEST(StepFit, TakesConstantChannels) {
  Requantization what{{1.0 / 300, 4e-10},
                      {{-40000, 40000}, {1 << 30, (1 << 30) + 128}},
                      Rounding::kDouble,
                      -128,
                      {-128, 127}};
  EXPECT_TRUE(check(what));
}

// What a fit costs is how often the reference is asked.
TEST(StepFit, AsksTheReferenceFewTimesForAStep) {
  Requantization what{{1.0 / 731, 1.0 / 97, 3e-6},
                      {{-90000, 120000}, {-9000, 100}, {-5000000, 3000000}},
                      Rounding::kDouble,
                      3,
                      {-128, 127}};
  int asked = 0;
  std::vector<StepTarget> targets;
  for (size_t c = 0; c < what.scales.size(); ++c)
    targets.push_back({[&asked, reference = what.reference(c)](int32_t acc) -> int64_t {
                         ++asked;
                         return reference(acc);
                       },
                       what.scales[c], what.ranges[c]});
  ASSERT_TRUE(find_steps(targets, what.zero_point, what.clamp).has_value());
  EXPECT_LE(asked, 3 * (2 * 255 + 2));
}

TEST(StepFit, RefusesWhatNoLineSeparates) {
  StepTarget bent{
      [](int32_t acc) -> int64_t { return acc < 10 ? acc : 10 * acc - 90; }, 1.0, {-100, 100}};
  auto steps = find_steps({bent}, 0, {-128, 127});
  ASSERT_TRUE(steps.has_value());
  EXPECT_FALSE(fit_lines(*steps, {-128, 127}).has_value());
  for (bool two_roundings : {false, true})
    EXPECT_FALSE(fit_words(*steps, 0, {-128, 127}, two_roundings).has_value());
}

}  // namespace
}  // namespace aotc::ops
