// SPDX-License-Identifier: Apache-2.0
#include "rules.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <random>

#include "terms.h"

namespace aotc::tests::proof {

namespace {

constexpr uint64_t kWords = uint64_t{1} << 32;

// The rule by which float lines are proven, for all floats but NaN: clamping to +-1024 and rounding by a large float
// gives what the conversion of the FPU gives, clamped.
int64_t wrong_floats() {
  constexpr float kRange = 1024.0f, kWhole = 12582912.0f;
  int64_t failed = 0;
  for (uint64_t bits = 0; bits < kWords; ++bits) {
    const auto v = std::bit_cast<float>(static_cast<uint32_t>(bits));
    if (v != v) continue;
    const float clamped = std::clamp(v, -kRange, kRange);
    const volatile float sum = clamped + kWhole;
    const auto meaning = static_cast<int32_t>(sum - kWhole);
    const auto text = static_cast<int32_t>(std::clamp(nearest_even(v), -1024, 1024));
    failed += meaning != text;
  }
  return failed;
}

// A word that is not its lowest byte, extended, becomes 127 or -128 by its sign: all words.
int64_t wrong_bytes() {
  int64_t failed = 0;
  for (uint64_t bits = 0; bits < kWords; ++bits) {
    const auto v = static_cast<int32_t>(bits);
    const int32_t byte = static_cast<int8_t>(bits);
    failed += (byte == v ? byte : 127 ^ v >> 31) != std::clamp(v, -128, 127);
  }
  return failed;
}

// The high word of a product by four products of halves, each of which has 32 bits: halves at and around the ends of
// their ranges, and random words.
int64_t wrong_high_words(int64_t* tried) {
  auto by_halves = [](int32_t a, int32_t b) {
    const auto low = [](int32_t v) { return static_cast<uint32_t>(v) & 0xFFFF; };
    const auto high = [](int32_t v) { return static_cast<uint32_t>(v >> 16); };
    const auto shifted = [](uint32_t v) { return static_cast<uint32_t>(static_cast<int32_t>(v) >> 16); };
    const uint32_t middle = high(a) * low(b) + (low(a) * low(b) >> 16);
    const uint32_t more = (middle & 0xFFFF) + low(a) * high(b);
    return static_cast<int32_t>(high(a) * high(b) + shifted(middle) + shifted(more));
  };
  int64_t failed = 0;
  auto check = [&](int32_t a, int32_t b) {
    ++*tried;
    failed += by_halves(a, b) != static_cast<int32_t>((int64_t{a} * b) >> 32);
  };
  std::vector<int32_t> ends;
  for (uint32_t high : {0U, 1U, 2U, 0x7FFEU, 0x7FFFU, 0x8000U, 0x8001U, 0xFFFEU, 0xFFFFU})
    for (uint32_t low : {0U, 1U, 2U, 0x7FFFU, 0x8000U, 0x8001U, 0xFFFEU, 0xFFFFU})
      ends.push_back(static_cast<int32_t>(high << 16 | low));
  for (int32_t a : ends)
    for (int32_t b : ends) check(a, b);
  constexpr int kRandom = 100'000'000;
  std::mt19937_64 random(1);
  for (int i = 0; i < kRandom; ++i) {
    const uint64_t both = random();
    check(static_cast<int32_t>(both), static_cast<int32_t>(both >> 32));
  }
  return failed;
}

}  // namespace

bool check_rules() {
  const auto floats = static_cast<long long>(wrong_floats()), bytes = static_cast<long long>(wrong_bytes());
  int64_t tried = 0;
  const auto words = static_cast<long long>(wrong_high_words(&tried));
  const int failed = (floats > 0) + (bytes > 0) + (words > 0);
  std::printf("%lld of 2^32 floats are rounded otherwise\n%lld of 2^32 words are saturated otherwise\n", floats, bytes);
  std::printf("%lld of %lld products have another high word\n%d passed, %d failed\n", words,
              static_cast<long long>(tried), 3 - failed, failed);
  return failed > 0;
}

}  // namespace aotc::tests::proof
