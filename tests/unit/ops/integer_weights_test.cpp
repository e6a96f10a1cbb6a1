// SPDX-License-Identifier: Apache-2.0
#include "ops/common/integer_weights.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <random>

namespace aotc::ops {
namespace {

std::vector<float> products(std::mt19937& random, int channels, int k, int low, int high) {
  std::uniform_real_distribution<float> scales(1e-5f, 0.3f);
  std::uniform_int_distribution<int> values(low, high);
  std::vector<float> out;
  for (int c = 0; c < channels; ++c) {
    const float scale = scales(random);
    for (int i = 0; i < k; ++i) out.push_back(static_cast<float>(values(random)) * scale);
  }
  return out;
}

TEST(IntegerWeights, AreTheWeightsBitForBit) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 200; ++trial) {
    const int least = trial % 2 == 0 ? -128 : -8, channels = trial % 5 + 1, k = trial % 31 + 1;
    const auto weights = products(random, channels, k, least, -least - 1);
    const auto found = integer_weights(weights, channels);
    ASSERT_TRUE(found) << trial;
    EXPECT_TRUE(found->nibbles || least == -128) << trial;
    for (size_t i = 0; i < weights.size(); ++i)
      ASSERT_EQ(
          std::bit_cast<uint32_t>(static_cast<float>(found->values[i]) * found->scales[i / static_cast<size_t>(k)]),
          std::bit_cast<uint32_t>(weights[i]));
  }
}

TEST(IntegerWeights, OtherFloatsHaveNone) {
  std::mt19937 random(4);
  std::normal_distribution<float> normal;
  std::vector<float> weights;
  for (int i = 0; i < 64; ++i) weights.push_back(normal(random));
  EXPECT_FALSE(integer_weights(weights, 2));
  for (float bad : {-0.0f, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(),
                    std::numeric_limits<float>::max(), std::numeric_limits<float>::denorm_min()}) {
    const std::vector<float> one(8, bad);
    EXPECT_FALSE(integer_weights(one, 1)) << bad;
  }
}

TEST(IntegerWeights, ZerosHaveAnyScale) {
  const auto found = integer_weights(std::vector<float>(8, 0.0f), 2);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->values, std::vector<int8_t>(8, 0));
}

}  // namespace
}  // namespace aotc::ops
