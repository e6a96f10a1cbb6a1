// SPDX-License-Identifier: Apache-2.0
#include "support/numerics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

namespace aotc {
namespace {

constexpr int32_t kMin = std::numeric_limits<int32_t>::min();
constexpr int32_t kMax = std::numeric_limits<int32_t>::max();

TEST(QuantizeMultiplier, KeepsThirtyOneBits) {
  EXPECT_EQ(quantize_multiplier(0.0).multiplier, 0);
  EXPECT_EQ(quantize_multiplier(1.0).multiplier, 1 << 30);
  EXPECT_EQ(quantize_multiplier(1.0).shift, 1);
  // Rounds up to the next power of two.
  EXPECT_EQ(quantize_multiplier(1.0 - 1e-15).multiplier, 1 << 30);
  EXPECT_EQ(quantize_multiplier(1.0 - 1e-15).shift, 1);
  EXPECT_EQ(quantize_multiplier(std::ldexp(0.75, -40)).multiplier, 0);
  EXPECT_EQ(quantize_multiplier(std::ldexp(0.75, 40)).multiplier, kMax);
  std::mt19937_64 random(1);
  for (int i = 0; i < 10000; ++i) {
    double real = std::ldexp(1.0 + static_cast<double>(random() >> 12) * 0x1p-52, static_cast<int>(random() % 50) - 30);
    QuantizedMultiplier m = quantize_multiplier(real);
    ASSERT_GE(m.multiplier, 1 << 30);
    double back = std::ldexp(static_cast<double>(m.multiplier), m.shift - 31);
    ASSERT_NEAR(back / real, 1.0, 0x1p-31);
  }
}

// The definition: 31 bits of the number's 53, half away from zero.
QuantizedMultiplier defined(double real) {
  if (real == 0) return {0, 0};
  int shift = 0;
  const auto bits = static_cast<int64_t>(std::ldexp(std::frexp(real, &shift), 53));
  int64_t magnitude = (std::abs(bits) + (int64_t{1} << 21)) >> 22;
  if (magnitude == int64_t{1} << 31 && real > 0) {
    magnitude = int64_t{1} << 30;
    ++shift;
  }
  if (shift < -31) return {0, 0};
  if (shift > 30) return {kMax, 30};
  return {static_cast<int32_t>(real < 0 ? -magnitude : magnitude), shift};
}

TEST(QuantizeMultiplier, IsTheDefinitionWhereItRounds) {
  constexpr int64_t kOne = int64_t{1} << 52, kTie = int64_t{1} << 21;
  for (int exponent = -36; exponent <= 34; ++exponent)
    for (int64_t bits : {kOne, kOne + 1, kOne + kTie - 1, kOne + kTie, kOne + kTie + 1, kOne + 3 * kTie,
                         kOne + kOne / 3, 2 * kOne - kTie - 1, 2 * kOne - kTie, 2 * kOne - 1})
      for (int64_t sign : {1, -1}) {
        const double real = std::ldexp(static_cast<double>(sign * bits), exponent - 53);
        const QuantizedMultiplier got = quantize_multiplier(real), wanted = defined(real);
        ASSERT_EQ(got.multiplier, wanted.multiplier) << real;
        ASSERT_EQ(got.shift, wanted.shift) << real;
      }
  EXPECT_EQ(quantize_multiplier(0.0).shift, 0);
}

TEST(MultiplyByQuantizedMultiplier, IsTheDefinitionAtTheEnds) {
  __extension__ typedef __int128 Wide;
  for (int32_t x : {kMin, kMin + 1, -(1 << 30), -65537, -3, -2, -1, 0, 1, 2, 3, 255, 1 << 30, kMax})
    for (int32_t m : {1 << 30, (1 << 30) + 1, 0x60000000, kMax - 1, kMax})
      for (int shift : {-31, -30, -8, -2, -1, 0, 1, 2, 8, 30}) {
        const int left = std::max(shift, 0), right = std::max(-shift, 0);
        const auto shifted = static_cast<int32_t>(static_cast<uint32_t>(x) << left);
        // floor(product / 2^31 + 1/2), then to the nearest, half away from zero.
        const Wide high = (static_cast<Wide>(shifted) * m * 2 + (Wide{1} << 31)) >> 32;
        const Wide half = right > 0 ? Wide{1} << (right - 1) : 0;
        const Wide wanted = high < 0 ? -((-high + half) >> right) : (high + half) >> right;
        ASSERT_EQ(multiply_by_quantized_multiplier(x, {m, shift}), static_cast<int32_t>(wanted))
            << x << " * " << m << " << " << shift;
      }
}

TEST(SaturatingRoundingDoublingHighMul, RoundsAndSaturates) {
  EXPECT_EQ(saturating_rounding_doubling_high_mul(kMin, kMin), kMax);
  EXPECT_EQ(saturating_rounding_doubling_high_mul(kMin, kMax), -kMax);
  EXPECT_EQ(saturating_rounding_doubling_high_mul(1, 1 << 30), 1);    // +0.5 rounds up
  EXPECT_EQ(saturating_rounding_doubling_high_mul(-1, 1 << 30), 0);   // -0.5 rounds up too
  EXPECT_EQ(saturating_rounding_doubling_high_mul(-3, 1 << 30), -1);  // -1.5
}

TEST(RoundingDivideByPot, TiesAwayFromZero) {
  for (int exponent = 0; exponent <= 31; ++exponent)
    for (int64_t x : {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{5}, int64_t{-5}, int64_t{kMin}, int64_t{kMax},
                      int64_t{1} << 20, -(int64_t{1} << 20)}) {
      long double exact = std::ldexp(static_cast<long double>(x), -exponent);
      EXPECT_EQ(rounding_divide_by_pot(static_cast<int32_t>(x), exponent), static_cast<int32_t>(std::round(exact)))
          << x << " >> " << exponent;
    }
}

TEST(MultiplyByQuantizedMultiplier, RoundsTwice) {
  // By 1 nothing changes; by 0 everything goes.
  for (int32_t x : {0, 1, -1, 255, -255, 1 << 29})
    EXPECT_EQ(multiply_by_quantized_multiplier(x, quantize_multiplier(1.0)), x);
  EXPECT_EQ(multiply_by_quantized_multiplier(kMax, {0, 0}), 0);
  // 0.4999... * 2^-1: once would give 0, twice gives 1.
  QuantizedMultiplier m{(1 << 30) + (1 << 29), -1};  // 0.375
  EXPECT_EQ(multiply_by_quantized_multiplier(1, m), 1);
  EXPECT_EQ(std::lround(1 * 0.375), 0);
}

// Every float16: value and sign, subnormals, infinities; a NaN stays one, with its bits.
TEST(HalfToFloat, IsExactForAllBits) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const uint32_t exponent = bits >> 10 & 31, mantissa = bits & 1023;
    float got = half_to_float(static_cast<uint16_t>(bits));
    ASSERT_EQ(std::signbit(got), bits >> 15 == 1) << bits;
    if (exponent == 31) {
      ASSERT_EQ(std::isnan(got), mantissa != 0) << bits;
      ASSERT_EQ(std::isinf(got), mantissa == 0) << bits;
      continue;
    }
    double wanted =
        exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, static_cast<int>(exponent) - 25);
    ASSERT_EQ(std::abs(static_cast<double>(got)), wanted) << bits;
  }
  EXPECT_EQ(std::bit_cast<uint32_t>(half_to_float(0x7E01)), 0x7FC02000u);
}

}  // namespace
}  // namespace aotc
