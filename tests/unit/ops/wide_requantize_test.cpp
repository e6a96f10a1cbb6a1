// SPDX-License-Identifier: Apache-2.0
// What becomes of sums of int16 activations: every emitted form, run by the interpreter and compared with
// the reference beside every step and at the ends of the range.
#include "ops/common/wide_requantize.h"

#include <cmath>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "ops/operator.h"

namespace aotc::ops {
namespace wide_requantize_test {
namespace {

// Runs the emitted form of `what` over accs[c][i]; all channels have equally many.
struct Emitted {
  std::string form;
  std::vector<int16_t> values;
};

Emitted run(const WideScaling& what, const std::vector<std::vector<int64_t>>& accs) {
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
  op.operands = {add(DType::kI64)};
  op.results = {add(DType::kI16)};
  graph.ops.push_back(op);
  OpView view{graph, graph.ops[0]};

  LoweringBuilder f(view, "requantize");
  tir::BufferPtr in = f.operand(0), out = f.result();
  WideRequantizer requantizer(f, what);
  requantizer.begin(f);
  f.loop("c", 0, channels, [&](tir::Ex c) {
    WideRequantizer::Channel channel = requantizer.prepare(f, c);
    f.loop("i", 0, count, [&](tir::Ex i) {
      tir::Ex at = f.let("at", c * count + i);
      tir::Ex acc = load(in, at);
      if (!what.wide()) acc = cast(DType::kI32, acc);
      f.store(out, at, requantizer.emit(f, f.let("acc", acc), channel));
    });
  });
  Lowered lowered = f.finish();

  std::vector<int64_t> input;
  for (const auto& of_channel : accs) input.insert(input.end(), of_channel.begin(), of_channel.end());
  Emitted result{std::string(requantizer.form()), std::vector<int16_t>(input.size())};
  std::vector<tir::Memory> memory;
  for (const Arg& arg : lowered.args) {
    if (arg.kind == ArgKind::kOperand) {
      memory.push_back({reinterpret_cast<uint8_t*>(input.data()), static_cast<int64_t>(input.size() * 8)});
    } else if (arg.kind == ArgKind::kResult) {
      memory.push_back(
          {reinterpret_cast<uint8_t*>(result.values.data()), static_cast<int64_t>(result.values.size() * 2)});
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

// Sums on both sides of steps of the reference, all of them where there are few, and others.
std::vector<int64_t> accumulators(const WideScaling& what, size_t c, std::mt19937& random) {
  AccRange range = what.ranges[c];
  std::vector<int64_t> out;
  auto add = [&](double acc) {
    for (int d = -1; d <= 1; ++d)
      out.push_back(std::clamp(static_cast<int64_t>(std::floor(acc)) + d, range.low, range.high));
  };
  constexpr size_t kCount = 6000;
  for (int level = 0; level < 500; ++level) {
    add((level + 0.5) / what.scales[c]);
    add(-(level + 0.5) / what.scales[c]);
  }
  std::uniform_int_distribution<int> any_level(-32768, 32767);
  std::uniform_int_distribution<int64_t> any(range.low, range.high);
  add(static_cast<double>(range.low));
  add(static_cast<double>(range.high));
  while (out.size() + 3 < kCount) {
    add((any_level(random) + 0.5) / what.scales[c]);
    out.push_back(any(random));
  }
  out.resize(kCount, range.high);
  return out;
}

std::string check(const WideScaling& what, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::vector<int64_t>> accs;
  for (size_t c = 0; c < what.scales.size(); ++c) accs.push_back(accumulators(what, c, random));
  Emitted emitted = run(what, accs);
  size_t at = 0;
  for (size_t c = 0; c < accs.size(); ++c)
    for (int64_t acc : accs[c]) {
      int value = emitted.values[at++], expected = what.apply(acc, c);
      if (value == expected) continue;
      ADD_FAILURE() << emitted.form << ", seed " << seed << ", channel " << c << " scale " << what.scales[c] << " sum "
                    << acc << ": " << value << " instead of " << expected;
      return emitted.form;
    }
  return emitted.form;
}

WideScaling scaling(WideRounding rounding, std::vector<double> scales, int64_t reach) {
  WideScaling out{std::move(scales), {}, rounding, {-32768, 32767}};
  out.ranges.assign(out.scales.size(), {-reach, reach});
  return out;
}

constexpr int64_t kNarrow = (int64_t{1} << 31) - 1, kWide = int64_t{1} << 44;

TEST(WideRequantize, ConvolutionsTakeTheHighWord) {
  EXPECT_EQ(check(scaling(WideRounding::kOnce, {0.00517, 0.0003, 0.49}, kNarrow), 1), "high word");
  EXPECT_EQ(check(scaling(WideRounding::kOnce, {0.0071}, 1 << 24), 2), "high word");
  EXPECT_EQ(check(scaling(WideRounding::kOnce, {0.0071, 1e-14}, 1 << 24), 3), "high word");
}

TEST(WideRequantize, MultipliersFromOneHalfOnAndTinyOnesAreShifted) {
  EXPECT_EQ(check(scaling(WideRounding::kOnce, {0.5, 0.01}, 1 << 20), 4), "one rounding");
  EXPECT_EQ(check(scaling(WideRounding::kOnce, {77.7}, 1 << 20), 5), "one rounding");
  EXPECT_EQ(check(scaling(WideRounding::kOnce, {1e-7, 0.25}, kNarrow), 6), "one rounding");
}

TEST(WideRequantize, WideSumsKeepTheirBits) {
  EXPECT_EQ(check(scaling(WideRounding::kOnce, {1e-9, 3e-9}, kWide), 7), "64 bits");
  // The quotient leaves 32 bits and wraps around, as the reference's does.
  EXPECT_EQ(check(scaling(WideRounding::kOnce, {0.9}, kWide), 8), "64 bits");
  EXPECT_EQ(check(scaling(WideRounding::kReal, {1e-9, 3e-9}, kWide >> 4), 9), "double");
}

TEST(WideRequantize, AnInt32BiasRoundsTwice) {
  EXPECT_EQ(check(scaling(WideRounding::kDouble, {0.00517, 0.0003, 0.49}, kNarrow), 10), "two roundings");
  EXPECT_EQ(check(scaling(WideRounding::kDouble, {3.3, 1e-9}, 1 << 26), 11), "two roundings");
}

TEST(WideRequantize, FullyConnectedIsExactInTwoWords) {
  // As models have them: made of float32 scales.
  auto real = [](float scale) { return static_cast<double>(scale); };
  EXPECT_EQ(check(scaling(WideRounding::kReal, {real(0.00517f), real(0.0003f), real(0.49f)}, kNarrow), 12),
            "two words");
  EXPECT_EQ(check(scaling(WideRounding::kReal, {real(1.7f), real(0.3f)}, 1 << 26), 13), "two words");
  std::mt19937 random(14);
  std::uniform_real_distribution<double> exponent(-14, -2);
  for (unsigned i = 0; i < 20; ++i) {
    std::vector<double> scales;
    for (int c = 0; c < 3; ++c) {
      auto factor = [&] { return static_cast<double>(static_cast<float>(std::exp2(exponent(random) / 2))); };
      scales.push_back(factor() * factor());
    }
    EXPECT_NE(check(scaling(WideRounding::kReal, scales, kNarrow), 100 + i), "double");
  }
}

// Of a scale that float32 does not have, double rounds some products to ties and others not.
TEST(WideRequantize, WhatNoTwoWordsCanDoIsDouble) {
  EXPECT_EQ(check(scaling(WideRounding::kReal, {0.00517, 0.0003, 0.49}, kNarrow), 20), "double");
}

// Powers of two have ties, which go away from zero; so do products that double rounds to one (50 times
// 0.49).
TEST(WideRequantize, TiesGoAwayFromZero) {
  EXPECT_EQ(check(scaling(WideRounding::kReal, {0x1p-6}, 1 << 26), 15), "two words");
  EXPECT_EQ(check(scaling(WideRounding::kReal, {0x1p-6, 0x1p-9}, 1 << 26), 16), "two words");
  EXPECT_EQ(check(scaling(WideRounding::kReal, {0.49}, 1 << 26), 17), "two words");
}

TEST(WideRequantize, ActivationsBoundTheResult) {
  WideScaling what = scaling(WideRounding::kOnce, {0.01}, 1 << 26);
  what.clamp = {0, 6000};
  EXPECT_EQ(check(what, 17), "high word");
  what.rounding = WideRounding::kReal;
  what.scales[0] = static_cast<double>(0.01f);
  EXPECT_EQ(check(what, 18), "two words");
  what.ranges[0] = {-kWide, kWide};
  what.scales[0] = 1e-8;
  EXPECT_EQ(check(what, 19), "double");
}

}  // namespace
}  // namespace wide_requantize_test
}  // namespace aotc::ops
