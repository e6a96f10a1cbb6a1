// SPDX-License-Identifier: Apache-2.0
// Rows quantised when they are known (ops/common/hybrid.h): evaluation against TIR on rows of every
// size, with zero points next to ties, ranges at the edge of what a float's inverse reaches, NaN
// and infinity.
#include "ops/common/hybrid.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace aotc::ops {
namespace {

tir::FunctionPtr quantizer(int64_t count, bool asymmetric, bool centred) {
  tir::FunctionBuilder f("quantize");
  tir::BufferPtr x = f.input("x", DType::kF32, count);
  tir::BufferPtr q = f.output("q", DType::kI16, count);
  tir::BufferPtr scale = f.output("scale", DType::kF32, 1);
  tir::BufferPtr zero = f.output("zero", DType::kI32, 1);
  RowQuantization row = emit_quantize_row(f, {x, tir::Ex(0), count, asymmetric, centred, nullptr}, q, 0);
  f.store(scale, 0, row.scale);
  f.store(zero, 0, row.zero);
  return f.finish();
}

class Rows {
 public:
  explicit Rows(uint32_t seed) : random_(seed) {}

  float real(float low, float high) { return std::uniform_real_distribution<float>(low, high)(random_); }
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

  std::vector<float> next(size_t count) {
    std::vector<float> x(count);
    const int kind = pick(0, 7);
    const float size = std::ldexp(real(1, 2), kind == 1 ? pick(-149, 127) : pick(-20, 20));
    for (float& v : x) v = real(kind == 3 ? 0.0f : -size, kind == 4 ? 0.0f : size);
    if (kind == 2 && count > 1) {  // the zero point next to a tie
      x[0] = -(static_cast<float>(pick(1, 253)) + 0.5f) * (size / 255.0f);
      x[1] = size + x[0];
      for (size_t i = 2; i < count; ++i) x[i] = real(x[0], x[1]);
    }
    if (kind == 5)  // ties, and the float below one half
      for (float& v : x) v = pick(0, 1) ? static_cast<float>(pick(-254, 254)) / 2 : 0x1.fffffep-2f;
    if (kind == 5) x[0] = 127;
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    constexpr float kOdd[] = {kInfinity, -kInfinity, NAN, -NAN, 3e38f, -3e38f, 0.0f, -0.0f};
    if (kind == 6) x[static_cast<size_t>(pick(0, static_cast<int>(count) - 1))] = kOdd[pick(0, 7)];
    if (kind == 7 && pick(0, 3) == 0) std::fill(x.begin(), x.end(), kOdd[pick(6, 7)]);
    return x;
  }

 private:
  std::mt19937 random_;
};

bool same(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}

TEST(HybridRows, EvaluationAndTirAgree) {
  Rows rows(11);
  for (int64_t count : {1, 2, 7, 8, 12, 19, 32})
    for (bool asymmetric : {false, true}) {
      const bool centred = count % 2 == 0;
      tir::FunctionPtr function = quantizer(count, asymmetric, centred);
      Diagnostics diags;
      ASSERT_TRUE(tir::verify(*function, diags)) << diags.str();
      for (int round = 0; round < 2000; ++round) {
        std::vector<float> x = rows.next(static_cast<size_t>(count));
        std::vector<int8_t> wanted(x.size());
        RowScale row = quantize_row(x, wanted, asymmetric);
        std::vector<int16_t> q(x.size());
        float scale = 0;
        int32_t zero = 0;
        auto bytes = [](auto* v) { return reinterpret_cast<uint8_t*>(v); };
        ASSERT_TRUE(tir::interpret(
            *function,
            {{bytes(x.data()), count * 4}, {bytes(q.data()), count * 2}, {bytes(&scale), 4}, {bytes(&zero), 4}}, diags))
            << diags.str();
        ASSERT_TRUE(same(scale, row.scale)) << scale << " " << row.scale;
        ASSERT_EQ(zero, row.zero) << round;
        for (size_t i = 0; i < q.size(); ++i)
          ASSERT_EQ(q[i] + (centred ? zero : 0), wanted[i]) << x[i] << " at " << i << " of " << count;
      }
    }
}

// Known rows: what is said in docs/numerics.md of ties, of groups of eight and of rows that have no
// scale.
TEST(HybridRows, Examples) {
  const float below = 0x1.fffffep-2f;
  std::vector<float> x(12, below);
  x[0] = 127;
  std::vector<int8_t> q(12);
  RowScale row = quantize_row(x, q, false);
  EXPECT_EQ(row.scale, 1.0f);
  EXPECT_EQ(q, (std::vector<int8_t>{127, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0}));
  x = {0, -51, 204};
  q.resize(3);
  row = quantize_row(x, q, true);
  EXPECT_EQ(row.scale, 1.0f);
  EXPECT_EQ(row.zero, -77);
  EXPECT_EQ(q, (std::vector<int8_t>{-77, -128, 127}));
  x = {1, NAN, -1};
  row = quantize_row(x, q, true);
  EXPECT_TRUE(std::isnan(row.scale));
  EXPECT_EQ(q, (std::vector<int8_t>{0, 0, 0}));
}

}  // namespace
}  // namespace aotc::ops
