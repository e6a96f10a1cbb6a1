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
  if (fit.with_sign && acc + p.moved < 0) sum -= p.sign;
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
    targets.push_back(
        {[&what, c](int32_t acc) -> int64_t { return what.apply(acc, c); }, what.scales[c], what.ranges[c]});
  auto steps = find_steps(targets, what.zero_point, what.clamp);
  auto fit = steps ? make(*steps, what.clamp) : std::nullopt;
  if (!fit) return false;
  for (size_t c = 0; c < what.scales.size(); ++c)
    for (int64_t acc = what.ranges[c].low; acc <= what.ranges[c].high; ++acc) {
      auto a = static_cast<int32_t>(acc);
      if (run_fit(*fit, c, a, what.clamp) == what.apply(a, c)) continue;
      ADD_FAILURE() << "scale " << what.scales[c] << " accumulator " << acc << ": " << run_fit(*fit, c, a, what.clamp)
                    << " instead of " << what.apply(a, c);
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

// float32 products land on ties that are none, and go to the even side: many channels of small scales have no line,
// and two offsets serve some of these.
TEST(StepFit, BreaksWhatIsRoundedToEven) {
  std::mt19937 random(9);
  auto line = [](const auto& steps, ClampI32 clamp) { return fit_moved_lines(steps, clamp, 8); };
  auto broken = [](const auto& steps, ClampI32 clamp) { return fit_moved_lines(steps, clamp, 8, true); };
  int lines = 0, all = 0;
  for (int i = 0; i < 24; ++i) {
    float scale = std::uniform_real_distribution<float>(0.0004f, 0.0012f)(random);
    auto reach = static_cast<int64_t>(130 / scale);
    Requantization what{{static_cast<double>(scale)}, {{-reach, reach}}, Rounding::kEven, i - 12, {-128, 127}};
    lines += check(what, line);
    all += check(what, broken);
  }
  EXPECT_GE(all, lines + 3);
  EXPECT_LT(lines, 20);
  // Every step of a power of two is a tie.
  EXPECT_FALSE(check({{1.0 / 128}, {{-30000, 30000}}, Rounding::kEven, 3, {-128, 127}}, broken));
}

// Two lines are for channels that none serves: one that has a line keeps it.
TEST(StepFit, BreaksNothingThatALineServes) {
  std::mt19937 random(10);
  int lines = 0;
  for (int i = 0; i < 8; ++i) {
    float scale = std::uniform_real_distribution<float>(0.004f, 0.02f)(random);
    auto reach = static_cast<int64_t>(130 / scale);
    Requantization what{{static_cast<double>(scale)}, {{-reach, reach}}, Rounding::kEven, i - 4, {-128, 127}};
    check(what, [&](const auto& steps, ClampI32 clamp) {
      auto line = fit_moved_lines(steps, clamp, 8), may_break = fit_moved_lines(steps, clamp, 8, true);
      if (!line || line->with_sign) return may_break;
      ++lines;
      EXPECT_TRUE(may_break && !may_break->with_sign);
      if (!may_break) return may_break;
      EXPECT_EQ(may_break->channels[0].multiplier, line->channels[0].multiplier);
      EXPECT_EQ(may_break->channels[0].offset, line->channels[0].offset);
      EXPECT_EQ(may_break->channels[0].moved, line->channels[0].moved);
      EXPECT_EQ(may_break->channels[0].sign, 0);
      return may_break;
    });
  }
  EXPECT_GT(lines, 4);
}

// Steps of -128 to 127 along a line through zero, those of the levels from `from` on `early`, and the last one `last`
// earlier than that. It is the end of the range.
Steps broken_steps(int64_t distance, int from, int64_t early, int64_t last) {
  Steps out;
  out.real = 1 / static_cast<double>(distance);
  for (int level = -127; level <= 127; ++level)
    out.first.push_back(level * distance - distance / 2 - (level >= from ? early : 0));
  out.first.back() -= last;
  out.range = {-128 * distance, out.first.back()};
  return out;
}

// Does the fit step where it must, and nowhere else?
void expect_steps(const LineFit& fit, const Steps& steps) {
  for (size_t i = 0; i < steps.first.size(); ++i) {
    const int level = static_cast<int>(i) - 127;
    const auto at = static_cast<int32_t>(steps.first[i]);
    EXPECT_EQ(run_fit(fit, 0, at, {-128, 127}), level) << at;
    EXPECT_EQ(run_fit(fit, 0, at - 1, {-128, 127}), level - 1) << at - 1;
  }
  EXPECT_EQ(run_fit(fit, 0, static_cast<int32_t>(steps.range.low), {-128, 127}), -128);
}

// Of two lines both have every step up to the end of the range in its place.
TEST(StepFit, TwoLinesHaveEveryStep) {
  for (int from : {-60, 3, 70}) {
    const Steps broken = broken_steps(2000, from, 30, 0);
    EXPECT_FALSE(fit_moved_lines({broken}, {-128, 127}, 8)) << from;
    auto fit = fit_moved_lines({broken}, {-128, 127}, 8, true);
    ASSERT_TRUE(fit) << from;
    EXPECT_TRUE(fit->with_sign);
    expect_steps(*fit, broken);
    // The last step is off by more than either line can be.
    EXPECT_FALSE(fit_moved_lines({broken_steps(2000, from, 30, 60)}, {-128, 127}, 8, true)) << from;
  }
}

// Where the lines meet becomes zero, if the accumulators that this moves can still be shifted.
TEST(StepFit, TwoLinesMeetWhereNothingOverflows) {
  for (auto [distance, fits] : {std::pair{20000, true}, {30000, true}, {50000, false}}) {
    const Steps broken = broken_steps(distance, 100, 500, 0);
    auto fit = fit_moved_lines({broken}, {-128, 127}, 8, true);
    EXPECT_EQ(fit.has_value(), fits) << distance;
    if (!fit) continue;
    EXPECT_GE(-fit->channels[0].moved, broken.first[226]) << distance;
    EXPECT_LE(-fit->channels[0].moved, broken.first[227]) << distance;
    expect_steps(*fit, broken);
  }
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

// Channels so steep that a single bit is left to be shifted by.
TEST(StepFit, MostLinesShiftByOneBit) {
  const Requantization what{{33.3, 40.1}, {{-8, 8}, {-5, 7}}, Rounding::kSingle, 3, {-128, 127}};
  std::vector<bool> others;
  EXPECT_TRUE(check(what, [&](const auto& steps, ClampI32 clamp) {
    auto fit = fit_most_lines(steps, clamp, 8, others);
    EXPECT_TRUE(fit && fit->shift == 1);
    return fit;
  }));
  EXPECT_EQ(others, std::vector<bool>(2, false));
}

TEST(StepFit, MatchesTiesOfPowersOfTwo) {
  for (Rounding rounding : {Rounding::kDouble, Rounding::kSingle, Rounding::kDivide}) {
    Requantization what{{0.25, 1.0 / 128}, {{-9000, 9000}, {-30000, 30000}}, rounding, 3, {-128, 127}};
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
  Requantization what{
      {1.0 / 300, 4e-10}, {{-40000, 40000}, {1 << 30, (1 << 30) + 128}}, Rounding::kDouble, -128, {-128, 127}};
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
  StepTarget bent{[](int32_t acc) -> int64_t { return acc < 10 ? acc : 10 * acc - 90; }, 1.0, {-100, 100}};
  auto steps = find_steps({bent}, 0, {-128, 127});
  ASSERT_TRUE(steps.has_value());
  EXPECT_FALSE(fit_lines(*steps, {-128, 127}).has_value());
  for (bool two_roundings : {false, true}) EXPECT_FALSE(fit_words(*steps, 0, {-128, 127}, two_roundings).has_value());
}

std::vector<Steps> steps_of_layer(const Requantization& what) {
  std::vector<StepTarget> targets;
  for (size_t c = 0; c < what.scales.size(); ++c)
    targets.push_back({what.reference(c), what.scales[c], what.ranges[c]});
  auto steps = find_steps(targets, what.zero_point, what.clamp);
  EXPECT_TRUE(steps);
  return steps ? *steps : std::vector<Steps>{};
}

// A channel of one value needs no slope, and no room beyond that value.
TEST(StepFit, AConstantChannelIsItsOffset) {
  for (int value : {-128, -3, 0, 5, 127}) {
    StepTarget target{[value](int32_t) -> int64_t { return value; }, 1e-3, {-1000, 1000}};
    auto steps = find_steps({target}, 0, {-128, 127});
    ASSERT_TRUE(steps);
    for (int shift : {0, 1, 4}) {
      auto fit = fit_line_at(*steps, {-128, 127}, 6, shift);
      ASSERT_TRUE(fit) << value << " " << shift;
      EXPECT_EQ(fit->channels[0].multiplier, 0);
      const int32_t found = fit->channels[0].offset >> shift;
      EXPECT_EQ(std::clamp(found, -128, 127), value);
      if (value > -128) {
        EXPECT_EQ(fit->channels[0].offset, value * (1 << shift));
      }
    }
  }
}

// Channels that are much flatter than the steepest shift less where one left shift for all would leave too
// few bits, and without a sign they are moved, with one they are not.
TEST(StepFit, FlatChannelsAreMovedOrShiftLess) {
  Requantization what{{0.0119, 1.0517e-4, 1.9523e-4},
                      {{-60000, 60000}, {-428191, 428191}, {-354092, 441253}},
                      Rounding::kSingle,
                      -128,
                      {-128, 127}};
  auto moved = fit_moved_lines(steps_of_layer(what), what.clamp, 8);
  ASSERT_TRUE(moved);
  EXPECT_FALSE(moved->with_sign);
  int count = 0;
  for (const LineFit::Channel& c : moved->channels) count += c.moved != 0;
  EXPECT_GT(count, 0);
  EXPECT_FALSE(fit_line_at(steps_of_layer(what), what.clamp, 8, moved->shift));
  what = {{0.01, 3.1e-5}, {{-12700, 12700}, {-(1 << 23), 1 << 23}}, Rounding::kDouble, 7, {-128, 127}};
  auto fit = fit_lines(steps_of_layer(what), what.clamp);
  ASSERT_TRUE(fit);
  EXPECT_FALSE(fit->same_left);
  EXPECT_LT(fit->channels[1].left, fit->channels[0].left);
}

// int16 has steps to be found, more have not.
TEST(StepFit, StepsOfSixteenBitsAreTheMost) {
  auto found = [](ClampI32 clamp) {
    StepTarget target{[](int32_t acc) -> int64_t { return acc / 8; }, 0.125, {-1000, 1000}};
    return find_steps({target}, 0, clamp).has_value();
  };
  EXPECT_TRUE(found({-32768, 32767}));
  EXPECT_FALSE(found({-65536, 65536}));
}

// Words shift by 6, by 4 where the sums are too large for that, and are of zero points that the type has.
TEST(StepFit, WordsShiftByWhatTheSumsAllow) {
  for (auto [most, left] : {std::pair<int64_t, int>{1 << 20, 6}, {1 << 26, 4}, {int64_t{1} << 28, 2}}) {
    Requantization what{{0.0023, 0.0017}, {{-most, most}, {-most / 2, most}}, Rounding::kSingle, 0, {-128, 127}};
    std::vector<Steps> steps = steps_of_layer(what);
    auto fit = fit_words(steps, 0, what.clamp, false);
    ASSERT_TRUE(fit) << most;
    EXPECT_EQ(fit->left, left);
    for (int zero_point : {-255, 255, -256, 256, 300}) {
      what.zero_point = zero_point;
      EXPECT_EQ(fit_words(steps_of_layer(what), zero_point, what.clamp, false).has_value(), std::abs(zero_point) < 256)
          << zero_point;
    }
  }
}

// Layers in which everything is far apart: slopes, ranges, the channels that are off. Whatever is found must
// step where the reference does.
TEST(StepFit, WordsOfWildLayersStepWhereTheReferenceDoes) {
  std::mt19937 random(9);
  auto any = [&](int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); };
  int found = 0;
  for (int round = 0; round < 400; ++round) {
    Requantization what;
    what.rounding = round % 2 == 0 ? Rounding::kDouble : Rounding::kSingle;
    what.clamp = {-128, 127};
    what.zero_point = static_cast<int32_t>(any(-128, 127));
    const int flattest = static_cast<int>(8 + any(0, 24));
    for (int c = 0; c < 3; ++c) {
      what.scales.push_back(
          std::ldexp(static_cast<double>(any(1 << 20, (1 << 21) - 1)), -20 - static_cast<int>(any(4, flattest))));
      const auto bits = static_cast<int>(any(8, 27));
      what.ranges.push_back({-any(0, int64_t{1} << bits), any(1, int64_t{1} << bits)});
    }
    const std::vector<Steps> steps = steps_of_layer(what);
    auto fit = fit_words(steps, what.zero_point, what.clamp, what.rounding == Rounding::kDouble);
    if (!fit) continue;
    ++found;
    for (size_t c = 0; c < 3; ++c) {
      const int64_t word = fit->words[c];
      ASSERT_GE(word, 0);
      const auto s = static_cast<int>(word & ((1 << fit->low_bits) - 1));
      auto value = [&](int64_t acc) {
        const auto shifted = static_cast<int32_t>(static_cast<uint32_t>(acc) << fit->left);
        int64_t sum =
            ((shifted * word) >> 32) + fit->first + (int64_t{fit->half_zero()} << s) - (acc < 0 ? fit->sign : 0);
        EXPECT_EQ(sum, static_cast<int32_t>(sum));
        return std::clamp<int64_t>(sum >> (fit->base + s), -128, 127);
      };
      std::vector<int64_t> at = {what.ranges[c].low, what.ranges[c].high, std::max<int64_t>(-1, what.ranges[c].low), 0};
      for (int i = 0; i < 60; ++i) at.push_back(any(what.ranges[c].low, what.ranges[c].high));
      for (int64_t first : steps[c].first)
        for (int64_t acc : {first - 1, first})
          if (acc >= what.ranges[c].low && acc <= what.ranges[c].high) at.push_back(acc);
      for (int64_t acc : at)
        ASSERT_EQ(value(acc), what.apply(static_cast<int32_t>(acc), c)) << round << " " << c << " " << acc;
    }
  }
  EXPECT_GT(found, 50);
}

}  // namespace
}  // namespace aotc::ops
