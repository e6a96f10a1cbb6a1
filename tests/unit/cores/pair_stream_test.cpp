// SPDX-License-Identifier: Apache-2.0
// Streams of pairs of channels with weights of -128: what their words add up to, and their lines make of it, is the
// reference's result.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "cores/arm/dsp/gemm.h"

namespace aotc::cores::arm {
namespace {

constexpr int64_t kDepth = 8, kChannels = 4;

int below(int bound, std::mt19937& random) { return static_cast<int>(random() % static_cast<unsigned>(bound)); }

// One channel of a pair, from its sum shifted left, as the kernels do it.
int32_t on_line(int32_t scaled, const int32_t* line, const PairLines& lines, bool as_float) {
  if (as_float) {
    const float real = static_cast<float>(scaled) * std::bit_cast<float>(line[0]);
    return std::clamp(static_cast<int32_t>(std::nearbyint(std::clamp(real, -1024.0f, 1024.0f))) + line[1], -128, 127);
  }
  int32_t sum = static_cast<int32_t>(int64_t{scaled} * line[0] >> 32) + line[1];
  if (lines.sign() && scaled < 0) sum -= line[2];
  return std::clamp(sum >> lines.fit.shift, -128, 127);
}

struct Layer {
  std::vector<int8_t> weights;  // [kChannels][kDepth]
  std::vector<int32_t> bias;
  Requantization what;
};

Layer layer_of(Rounding rounding, int32_t zero_point, std::mt19937& random) {
  Layer out;
  for (int64_t i = 0; i < kChannels * kDepth; ++i) out.weights.push_back(static_cast<int8_t>(below(255, random) - 127));
  // Channel 1 meets a negative weight of channel 0, channel 3 a weight of channel 2 that is not.
  for (int64_t pair : {0, 2}) {
    const auto at = static_cast<size_t>(below(kDepth, random)), a = static_cast<size_t>(pair * kDepth) + at;
    out.weights[a] = static_cast<int8_t>(pair == 0 ? -1 - below(128, random) : below(128, random));
    out.weights[a + kDepth] = -128;
  }
  out.what.rounding = rounding;
  out.what.zero_point = zero_point;
  out.what.clamp = {-128, 127};
  for (int64_t c = 0; c < kChannels; ++c) {
    int64_t least = 0, most = 0;
    for (int64_t k = 0; k < kDepth; ++k) {
      const int64_t w = out.weights[static_cast<size_t>(c * kDepth + k)];
      least += std::min(-128 * w, 127 * w), most += std::max(-128 * w, 127 * w);
    }
    out.bias.push_back(below(8001, random) - 4000);
    out.what.ranges.push_back({out.bias.back() + least, out.bias.back() + most});
    const float scale = std::ldexp(1.0f + static_cast<float>(below(1000, random)) / 1000, -10);
    out.what.scales.push_back(static_cast<double>(scale));
  }
  return out;
}

// Results of all channels for one x, by the stream's words alone.
std::vector<int32_t> results_of(const std::vector<int32_t>& stream, const PairLines& lines,
                                const std::vector<int8_t>& x) {
  std::vector<int32_t> out;
  const int32_t* at = stream.data();
  for (int64_t pair = 0; pair < kChannels / 2; ++pair) {
    uint32_t a = static_cast<uint32_t>(*at++), both = static_cast<uint32_t>(*at++);
    for (size_t k = 0; k < kDepth; k += 2, ++at)
      for (size_t half : {0u, 1u}) {
        const auto word = static_cast<int16_t>(static_cast<uint32_t>(*at) >> (16 * half));
        a += static_cast<uint32_t>(x[k + half] * static_cast<int8_t>(word));
        both += static_cast<uint32_t>(x[k + half] * word);
      }
    const bool as_float = lines.even() || (lines.mixed() && *at != 0);
    if (lines.mixed()) ++at;
    for (uint32_t scaled : {a << PairGemm::kLeft, both - a}) {
      out.push_back(on_line(static_cast<int32_t>(scaled), at, lines, as_float));
      at += line_words(lines.sign());
    }
  }
  return out;
}

struct Count {
  int negated = 0, signs = 0, floats = 0;
};

void check(const Layer& layer, const PairLines& lines, const std::vector<int32_t>& bias, std::mt19937& random,
           Count& count) {
  PairOrder order;
  for (int k = 0; k < kDepth; k += 2) order.push_back({k, k + 1});
  const std::vector<int64_t> first = {0, 2};
  ASSERT_EQ(pair_factor(layer.weights, kDepth, 0), -1);
  ASSERT_EQ(pair_factor(layer.weights, kDepth, 2), 1);
  EXPECT_FALSE(pairs_fit(layer.weights, first, 2, kDepth));
  if (!pairs_fit(layer.weights, first, 2, kDepth, lines)) return;
  ++count.negated, count.signs += lines.sign(), count.floats += lines.even() || lines.mixed();
  const std::vector<int32_t> stream = gemm_stream(layer.weights, kDepth, order, first, bias, lines);
  for (int turn = 0; turn < 400; ++turn) {
    std::vector<int8_t> x;
    for (int64_t k = 0; k < kDepth; ++k)
      x.push_back(static_cast<int8_t>(turn < 50 ? -128 + 255 * below(2, random) : below(256, random) - 128));
    const std::vector<int32_t> results = results_of(stream, lines, x);
    for (size_t c = 0; c < kChannels; ++c) {
      int32_t acc = layer.bias[c];
      for (size_t k = 0; k < kDepth; ++k) acc += x[k] * layer.weights[c * kDepth + k];
      ASSERT_EQ(results[c], layer.what.apply(acc, c)) << form_text(lines) << " channel " << c << " sum " << acc;
    }
  }
}

TEST(PairStream, NegatedChannelsHaveTheReferencesResults) {
  std::mt19937 random(1);
  Count count;
  for (int turn = 0; turn < 60; ++turn)
    for (Rounding rounding : {Rounding::kDouble, Rounding::kEven, Rounding::kSingle}) {
      const Layer layer = layer_of(rounding, below(256, random) - 128, random);
      for (bool fpu : {false, true}) {
        std::vector<int32_t> bias = layer.bias;
        if (const auto lines = fit_pair_lines(layer.what, bias, PairGemm::kLeft, fpu))
          check(layer, *lines, bias, random, count);
      }
      std::vector<int32_t> bias = layer.bias;
      if (const auto lines = fit_mixed_lines(layer.what, bias, true)) check(layer, *lines, bias, random, count);
    }
  EXPECT_GT(count.negated, 200);
  EXPECT_GT(count.signs, 20);
  EXPECT_GT(count.floats, 5);
}

// With -128 beside weights of both signs neither form fits.
TEST(PairStream, WeightsOfBothSignsFitNoPair) {
  const std::vector<int8_t> weights = {-1, 0, 5, 6, -128, -128, 7, 8};
  EXPECT_EQ(pair_factor(weights, 4, 0), 0);
}

// A sum of 0 has the offset of sums above it: the line of a negated sum must give it the same result.
TEST(PairStream, ZeroKeepsItsResult) {
  PairLines lines;
  lines.fit.shift = 4;
  lines.fit.with_sign = true;
  lines.fit.channels = {{1 << 30, 40, PairGemm::kLeft, 3, 0}, {1 << 30, 32, PairGemm::kLeft, 3, 0}};
  const auto negated = negated_line(lines, 0);
  ASSERT_TRUE(negated);
  EXPECT_EQ(negated->multiplier, -(1 << 30));
  EXPECT_EQ(negated->offset, 37);
  EXPECT_EQ(negated->sign, -3);
  EXPECT_FALSE(negated_line(lines, 1));
}

}  // namespace
}  // namespace aotc::cores::arm
