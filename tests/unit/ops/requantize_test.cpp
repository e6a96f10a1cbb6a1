// SPDX-License-Identifier: Apache-2.0
// What the requantiser emits, run by the interpreter and compared with the reference where the
// value changes, at the ends of the range and between.
#include "ops/common/requantize.h"

#include <algorithm>
#include <random>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "ops/operator.h"

namespace aotc::ops {
namespace requantize_test {
namespace {

// Runs the emitted form of `what` over accs[c][i]; all channels have equally many.
struct Emitted {
  std::string form;
  std::vector<int8_t> values;
};

Emitted run(const Requantization& what, const std::vector<std::vector<int32_t>>& accs) {
  auto channels = static_cast<int64_t>(accs.size());
  auto count = static_cast<int64_t>(accs[0].size());
  graph::Graph graph;
  auto add = [&](DType type) {
    graph::Tensor tensor;
    tensor.name = "t";
    tensor.type = {type, {channels, count}, {}};
    return graph.add_tensor(std::move(tensor));
  };
  graph::Op op;
  op.definition = operators().find("cast");
  op.operands = {add(DType::kI32)};
  op.results = {add(DType::kI8)};
  graph.ops.push_back(op);
  OpView view{graph, graph.ops[0]};

  LoweringBuilder f(view, "requantize");
  tir::BufferPtr in = f.operand(0), out = f.result();
  Requantizer requantizer(f, what);
  requantizer.begin(f);
  f.loop("c", 0, channels, [&](tir::Ex c) {
    Requantizer::Channel channel = requantizer.prepare(f, c);
    f.loop("i", 0, count, [&](tir::Ex i) {
      tir::Ex at = f.let("at", c * count + i);
      f.store(out, at, requantizer.emit(f, load(in, at), channel));
    });
  });
  Lowered lowered = f.finish();

  std::vector<int32_t> input;
  for (const auto& of_channel : accs) input.insert(input.end(), of_channel.begin(), of_channel.end());
  Emitted result{std::string(requantizer.form()), std::vector<int8_t>(input.size())};
  std::vector<tir::Memory> memory;
  for (const Arg& arg : lowered.args) {
    if (arg.kind == ArgKind::kOperand) {
      memory.push_back({reinterpret_cast<uint8_t*>(input.data()), static_cast<int64_t>(input.size() * 4)});
    } else if (arg.kind == ArgKind::kResult) {
      memory.push_back({reinterpret_cast<uint8_t*>(result.values.data()), static_cast<int64_t>(result.values.size())});
    } else {
      Constant& constant = lowered.constants[static_cast<size_t>(arg.index)];
      memory.push_back({constant.bytes.data(), static_cast<int64_t>(constant.bytes.size())});
    }
  }
  Diagnostics diags;
  EXPECT_TRUE(tir::verify(*lowered.function, diags)) << diags.str();
  EXPECT_TRUE(tir::interpret(*lowered.function, memory, diags)) << diags.str();
  return result;
}

// The last accumulator below every step of the reference, found without the fit's own search.
std::vector<int32_t> accumulators(const Requantization& what, size_t c, std::mt19937& random) {
  auto low = static_cast<int32_t>(what.ranges[c].low), high = static_cast<int32_t>(what.ranges[c].high);
  std::vector<int32_t> out;
  auto add = [&](int64_t acc) { out.push_back(static_cast<int32_t>(std::clamp<int64_t>(acc, low, high))); };
  for (int level = -127; level <= 127; ++level) {
    int64_t from = low, to = high;  // the first accumulator that reaches the level, or the last
    while (from < to) {
      int64_t middle = from + (to - from) / 2;
      if (what.apply(static_cast<int32_t>(middle), c) >= level) {
        to = middle;
      } else {
        from = middle + 1;
      }
    }
    for (int64_t d : {-2, -1, 0, 1}) add(from + d);
  }
  for (int64_t d : {-1, 0, 1}) add(d);
  add(low);
  add(high);
  std::uniform_int_distribution<int32_t> any(low, high);
  while (out.size() < 1400) out.push_back(any(random));
  return out;
}

std::string check(const Requantization& what, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::vector<int32_t>> accs;
  for (size_t c = 0; c < what.scales.size(); ++c) accs.push_back(accumulators(what, c, random));
  Emitted emitted = run(what, accs);
  size_t at = 0;
  for (size_t c = 0; c < accs.size(); ++c)
    for (int32_t acc : accs[c]) {
      int value = emitted.values[at++], expected = what.apply(acc, c);
      if (value == expected) continue;
      ADD_FAILURE() << emitted.form << ", seed " << seed << ", channel " << c << " scale " << what.scales[c]
                    << " accumulator " << acc << ": " << value << " instead of " << expected;
      return emitted.form;
    }
  return emitted.form;
}

Requantization random_layer(unsigned seed, Rounding rounding, double least, double most) {
  std::mt19937 random(seed);
  Requantization out;
  out.rounding = rounding;
  std::uniform_int_distribution<int> zero(-128, 127), kind(0, 2), count(2, 12);
  std::uniform_real_distribution<double> exponent(least, most), width(0.3, 3);
  out.zero_point = zero(random);
  out.clamp = {-128, 127};
  if (kind(random) == 0) out.clamp.min = out.zero_point;
  if (kind(random) == 0) out.zero_point = out.clamp.min = -128;
  for (int c = count(random); c > 0; --c) {
    double scale = std::exp2(exponent(random));
    auto end = [&] { return std::llround(width(random) * 128 / scale); };
    out.scales.push_back(scale);
    out.ranges.push_back({-end(), end()});
    if (kind(random) == 0) out.ranges.back().low = out.ranges.back().high / 2;
  }
  return out;
}

TEST(Requantizer, EqualsTheReferenceInEveryForm) {
  std::set<std::string> forms, rounded_once;
  for (unsigned seed = 0; seed < 60; ++seed)
    for (Rounding rounding : {Rounding::kDouble, Rounding::kSingle, Rounding::kEven}) {
      forms.insert(check(random_layer(seed, rounding, -11, -7), seed));
      forms.insert(check(random_layer(seed, rounding, -16, -2), seed));
      if (rounding == Rounding::kSingle) rounded_once.insert(check(random_layer(seed, rounding, -10, -8), seed));
      forms.insert(check(random_layer(seed, rounding, -3, 3), seed));
    }
  for (const char* form : {"one word", "one word and sign", "one multiply", "two roundings", "float, ties to even"})
    EXPECT_TRUE(forms.count(form)) << form;
  EXPECT_TRUE(rounded_once.contains("one word"));
  EXPECT_FALSE(rounded_once.contains("one word and sign"));
}

TEST(Requantizer, PrefersWords) {
  int words = 0;
  for (unsigned seed = 0; seed < 40; ++seed)
    for (Rounding rounding : {Rounding::kDouble, Rounding::kSingle}) {
      std::string form = check(random_layer(seed, rounding, -11, -7), seed);
      if (form.starts_with("one word")) ++words;
    }
  EXPECT_GE(words, 76);  // of 80
}

// The multiplier's low bits decide about a step far out, so that no word does; a line shifts.
TEST(Requantizer, FallsBackWhereAChannelHasNoWord) {
  Requantization what = random_layer(3, Rounding::kDouble, -10, -8);
  ASSERT_TRUE(check(what, 3).starts_with("one word"));
  what.scales.push_back(std::exp2(-23) * 1.37);
  what.ranges.push_back({-(int64_t{1} << 30), int64_t{1} << 30});
  EXPECT_FALSE(check(what, 3).starts_with("one word"));
}

TEST(Requantizer, SharesOneSetOfNumbersBetweenEqualChannels) {
  Requantization what{{1.0 / 300, 1.0 / 300}, {{-40000, 40000}, {-30000, 50000}}, Rounding::kDouble, 3, {-128, 127}};
  EXPECT_TRUE(check(what, 1).starts_with("one multiply"));
}

// Channels that training switched off: slopes next to nothing under any range.
TEST(Requantizer, KeepsWordsWithChannelsThatAreOff) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Requantization what = random_layer(seed, Rounding::kDouble, -10, -8);
    what.scales.push_back(4e-10);
    what.ranges.push_back({(1 << 20) - 100, 1 << 20});
    what.scales.push_back(std::exp2(-25.3));
    what.ranges.push_back({-3000, 10000000});
    EXPECT_TRUE(check(what, seed).starts_with("one word")) << seed;
  }
}

// Accumulators that could be anything have no steps to be met: the reference's own operations remain.
TEST(Requantizer, FollowsTheReferenceWhereNoLineServes) {
  const std::vector<int32_t> accs = {-100000, -1000, -501, -500, -499, -7, -6, -5, -4,  -3,  -2,  -1,
                                     0,       1,     2,    3,    4,    5,  6,  7,  499, 500, 501, 100000};
  const AccRange any{-(int64_t{1} << 31), (int64_t{1} << 31) - 1};
  for (auto [rounding, form] : {std::pair{Rounding::kDivide, "division"},
                                {Rounding::kSingle, "double"},
                                {Rounding::kEven, "float, ties to even"},
                                {Rounding::kDouble, "two roundings"}})
    for (auto [one, other] : {std::pair{7, 7}, {4, 9}, {1000, 1}, {1, 1}})
      for (int zero_point : {0, -128, 5}) {
        Requantization what{{1.0 / one, 1.0 / other}, {any, any}, rounding, zero_point, {-128, 127}};
        if (zero_point == 5) what.clamp = {5, 90};
        Emitted emitted = run(what, {accs, accs});
        EXPECT_EQ(emitted.form, form);
        for (size_t c = 0; c < 2; ++c)
          for (size_t i = 0; i < accs.size(); ++i)
            ASSERT_EQ(emitted.values[c * accs.size() + i], what.apply(accs[i], c))
                << form << " by " << (c == 0 ? one : other) << " of " << accs[i];
      }
}

// All by one: the numbers must serve the widest range, whichever channel has it.
TEST(Requantizer, SharedNumbersServeTheWidestRange) {
  const AccRange narrow{-100, 100}, low{-(1 << 29), 50}, high{-50, 1 << 29};
  for (const AccRange& wide : {low, high})
    for (bool first : {false, true}) {
      const double scale = std::exp2(-22) * 1.1;
      Requantization what{{scale, scale}, {narrow, narrow}, Rounding::kDouble, 3, {-128, 127}};
      what.ranges[first ? 0 : 1] = wide;
      check(what, 1);
    }
}

TEST(Requantizer, OneChannelIsNoSetOfChannels) {
  Requantization what{{1.0 / 300, 1.0 / 7}, {{-40000, 40000}}, Rounding::kDouble, 3, {-128, 127}};
  what.scales.pop_back();
  EXPECT_EQ(check(what, 1).substr(0, 12), "one multiply");
}

TEST(Requantizer, TamesTheFirstAndTheLastChannel) {
  Requantization what{{1.23e-8, 1.0 / 300, 1.23e-8},
                      {{1 << 30, 1 << 30}, {-40000, 40000}, {1 << 30, 1 << 30}},
                      Rounding::kDouble,
                      -128,
                      {-128, 127}};
  std::vector<int32_t> bias = {1 << 30, 5, 1 << 30};
  what.tame_constant_channels(bias);
  EXPECT_LT(std::abs(bias[0]), 1 << 20);
  EXPECT_EQ(bias[1], 5);
  EXPECT_EQ(bias[2], bias[0]);
  EXPECT_EQ(what.scales[0], 1.0 / 300);
  EXPECT_EQ(what.apply(bias[0], 0), -115);
}

TEST(Requantizer, TamesChannelsOfOneAccumulator) {
  Requantization what{{1.0 / 300, 1.23e-8, 1.0 / 500},
                      {{-40000, 40000}, {1 << 30, 1 << 30}, {-70000, 70000}},
                      Rounding::kDouble,
                      -128,
                      {-128, 127}};
  Requantization tamed = what;
  std::vector<int32_t> bias = {5, 1 << 30, 7};
  tamed.tame_constant_channels(bias);
  EXPECT_EQ(bias[0], 5);
  EXPECT_EQ(bias[2], 7);
  EXPECT_LT(std::abs(bias[1]), 1 << 20);
  EXPECT_EQ(tamed.ranges[1].low, bias[1]);
  EXPECT_EQ(tamed.ranges[1].high, bias[1]);
  EXPECT_EQ(what.apply(1 << 30, 1), -115);
  EXPECT_EQ(tamed.apply(bias[1], 1), -115);
  EXPECT_FALSE(check(what, 1).starts_with("one word"));
  EXPECT_TRUE(check(tamed, 1).starts_with("one word"));
}

// Without a channel that lives there is no scale to take.
TEST(Requantizer, LeavesLayersOfConstantsAlone) {
  Requantization what{{1.23e-8, 1e-9}, {{1 << 30, 1 << 30}, {7, 7}}, Rounding::kDouble, -128, {-128, 127}};
  std::vector<int32_t> bias = {1 << 30, 7};
  what.tame_constant_channels(bias);
  EXPECT_EQ(bias, (std::vector<int32_t>{1 << 30, 7}));
  check(what, 1);
}

// One channel in the middle that differs is enough.
TEST(Requantize, ACommonLineHasAChannelForEachScale) {
  Requantization what;
  what.clamp = {-128, 127};
  what.ranges.assign(3, {-3000, 3000});
  for (double middle : {0.02, 0.01}) {
    what.scales = {0.01, middle, 0.01};
    std::vector<int32_t> bias(3, 0);
    auto fit = fit_common_line(what, 6, bias);
    ASSERT_TRUE(fit);
    EXPECT_EQ(fit->channels.size(), middle == 0.01 ? 1u : 3u);
  }
}

// A left shift that wraps is no step function: what it does is done in its steps, one by one.
TEST(Requantizer, LeftShiftsThatWrapAreFollowed) {
  Requantization what{{4.0}, {{(1 << 28) - 50, (1 << 28) + 50}}, Rounding::kDouble, 3, {-128, 127}};
  EXPECT_EQ(check(what, 1), "two roundings");
  std::vector<int32_t> bias = {5};
  EXPECT_FALSE(fit_common_line(what, 1, bias));
  EXPECT_EQ(bias, std::vector<int32_t>{5});
}

// Accumulators too far from zero to be shifted are moved there by their biases, each channel by its own.
TEST(Requantize, ACommonLineMovesWhatLiesFarOut) {
  Requantization what{{1.1e-6, 2.3e-6, 0.003},
                      {{(1 << 26) - 60000, 1 << 26}, {-(1 << 25) - 70000, 60000 - (1 << 25)}, {-40000, 40000}},
                      Rounding::kSingle,
                      3,
                      {-128, 127}};
  std::vector<int32_t> bias = {1 << 26, -(1 << 25), 7};
  const std::vector<int32_t> old = bias;
  auto fit = fit_common_line(what, 6, bias);
  ASSERT_TRUE(fit);
  for (size_t c = 0; c < 3; ++c) {
    const LineFit::Channel& line = fit->channels[c];
    ASSERT_EQ(line.sign, 0);
    EXPECT_LT(std::abs(bias[c]), 1 << 18);
    for (int64_t acc = what.ranges[c].low; acc <= what.ranges[c].high; acc += 7) {
      const int64_t moved = (acc + bias[c] - old[c]) << 6;
      ASSERT_EQ(moved, static_cast<int32_t>(moved));
      const int64_t value = (((moved * line.multiplier) >> 32) + line.offset) >> fit->shift;
      ASSERT_EQ(std::clamp<int64_t>(value, -128, 127), what.apply(static_cast<int32_t>(acc), c)) << c << " " << acc;
    }
  }
}

// Channels of which no line does are told, and their biases stay; the others are lines. The first one's accumulators
// reach from half of what can be shifted to twice that: they can only be counted from their middle.
TEST(Requantize, MostLinesLeaveSomeChannelsToOthers) {
  constexpr int kLeft = 8;
  Requantization what;
  what.rounding = Rounding::kEven;
  what.zero_point = -100;
  what.clamp = {-128, 127};
  what.scales = {static_cast<double>(1.1e-6f)};
  what.ranges = {{1 << 22, (1 << 22) + 13000000}};
  std::mt19937 random(9);
  for (int i = 0; i < 12; ++i) {
    const float scale = std::uniform_real_distribution<float>(0.0004f, 0.0012f)(random);
    const auto reach = static_cast<int64_t>(130 / scale);
    what.scales.push_back(static_cast<double>(scale));
    what.ranges.push_back({-reach, reach});
  }
  const size_t count = what.scales.size();
  std::vector<int32_t> bias(count + 1, 1 << 20);
  std::vector<bool> others(64, false);  // what is behind the channels' own bits says nothing either
  auto fit = fit_most_lines(what, kLeft, bias, others);
  ASSERT_TRUE(fit);
  EXPECT_FALSE(fit->with_sign);
  ASSERT_EQ(others.size(), count);
  const auto left_over = std::count(others.begin(), others.end(), true);
  EXPECT_GT(left_over, 0);
  EXPECT_LE(2 * left_over, static_cast<std::ptrdiff_t>(count));
  EXPECT_EQ(bias[count], 1 << 20);
  for (size_t c = 0; c < count; ++c) {
    if (others[c]) {
      EXPECT_EQ(bias[c], 1 << 20) << c;
      continue;
    }
    const LineFit::Channel& line = fit->channels[c];
    for (int32_t acc : accumulators(what, c, random)) {
      const int64_t moved = (int64_t{acc} + bias[c] - (1 << 20)) << kLeft;
      ASSERT_EQ(moved, static_cast<int32_t>(moved)) << c << " " << acc;
      const int64_t value = (((moved * line.multiplier) >> 32) + line.offset) >> fit->shift;
      ASSERT_EQ(std::clamp<int64_t>(value, -128, 127), what.apply(acc, c)) << c << " " << acc;
    }
  }
}

// What is emitted for one accumulator by the reference's own steps.
Lowered lowered_twice(double scale, size_t channels) {
  const AccRange any{-(int64_t{1} << 31), (int64_t{1} << 31) - 1};
  Requantization what{
      std::vector<double>(channels, scale), std::vector<AccRange>(channels, any), Rounding::kDouble, 3, {-128, 127}};
  graph::Graph graph;
  for (DType type : {DType::kI32, DType::kI8}) {
    graph::Tensor tensor;
    tensor.type = {type, {1}, {}};
    graph.add_tensor(std::move(tensor));
  }
  graph::Op op;
  op.definition = operators().find("cast");
  op.operands = {graph::TensorId{0}};
  op.results = {graph::TensorId{1}};
  graph.ops.push_back(op);
  OpView view{graph, graph.ops[0]};
  LoweringBuilder f(view, "requantize");
  tir::BufferPtr in = f.operand(0), out = f.result();
  Requantizer requantizer(f, what);
  requantizer.begin(f);
  f.store(out, 0, requantizer.emit(f, load(in, tir::Ex(0)), tir::Ex(0)));
  EXPECT_EQ(requantizer.form(), "two roundings");
  return f.finish();
}

// One number for all is stored once, however many channels there are.
TEST(Requantizer, EqualChannelsStoreOneMultiplier) {
  for (size_t channels : {1, 2, 5}) {
    Lowered lowered = lowered_twice(0.01, channels);
    ASSERT_EQ(lowered.constants.size(), 1u);
    EXPECT_EQ(lowered.constants[0].bytes.size(), 8u) << channels;
  }
}

// The largest shift to the right is one that 1 << shift does not hold.
TEST(Requantizer, ShiftsOfThirtyOneAreRounded) {
  const AccRange any{-(int64_t{1} << 31), (int64_t{1} << 31) - 1};
  Requantization what{{0.9 / (int64_t{1} << 31), 0.3}, {{-1000000, 1000000}, any}, Rounding::kDouble, 3, {-128, 127}};
  EXPECT_EQ(check(what, 1), "two roundings");
}

// Where nothing is shifted right there is no second rounding.
TEST(Requantizer, WhatIsNotShiftedIsRoundedOnce) {
  auto length = [](double scale) { return tir::print(*lowered_twice(scale, 1).function).size(); };
  EXPECT_LT(length(0.75), length(0.3));
}

}  // namespace
}  // namespace requantize_test
}  // namespace aotc::ops
