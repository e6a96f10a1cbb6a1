// SPDX-License-Identifier: Apache-2.0
// Generated kernels: the description of sigmoid and tanh for all inputs, exact costs, and lengths of texts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "cores/arm/dsp/depthwise_kernels.h"
#include "cores/arm/dsp/gemm.h"
#include "cores/arm/generated/dsp_gates.h"
#include "cores/arm/generated/fixed_point.h"
#include "cores/arm/generated/lstm_kernels.h"
#include "cores/arm/generated/mve_gates.h"
#include "cores/arm/thumb.h"
#include "cores/arm/thumb_count.h"
#include "cores/arm/timings.h"
#include "ops/recurrent/fixed_point.h"

namespace aotc::cores::arm {
namespace {

// Computes what a description says, with numbers. Products of halfwords must not be given more.
class HostMachine {
 public:
  using Value = int32_t;

  Value low_bits(Value n, int bits) { return n & ((1 << bits) - 1); }
  Value shifted_minus(Value t, int left, int less) { return narrow(t * (1 << left) - less); }
  Value product(Value a, Value b) { return narrow((narrow(a) * narrow(b) + (1 << 14)) >> 15); }
  Value product_plus(Value a, int b, int c) { return narrow(product(a, b) + c); }
  Value plus_product_with(Value a, Value b, int c) { return narrow(a + product(b, c)); }
  Value plus_quarter_square(Value a, Value b) { return narrow(a + ((product(b, b) + 2) >> 2)); }
  Value plus_rounded_half(Value a, Value b) { return narrow(a + ((b + 1) >> 1)); }
  Value product_if_clear(Value a, Value n, int bit, int factor) { return (n >> bit & 1) == 0 ? product(a, factor) : a; }
  Value products_if_clear(Value a, Value n, int bit, int factor, int next_factor) {
    return product_if_clear(product_if_clear(a, n, bit, factor), n, bit + 1, next_factor);
  }
  Value zero_if_less(Value a, Value n, int limit) { return n < limit ? 0 : a; }
  Value half_of_one_plus(Value a) { return narrow((a + 32768) >> 1); }
  Value minus_product(int from, Value a, Value b) { return narrow(from - product(a, b)); }
  Value plus_four_products(Value a, Value b) { return narrow(a + 4 * product(a, b)); }
  Value minus_magnitude(Value a) { return a > 0 ? -a : a; }
  Value sigmoid_of(Value guess, Value a) {
    return a == 0 ? 1 << 14 : a > 0 ? narrow(2 * guess) : narrow(32767 - 2 * guess);
  }
  Value tanh_of(Value guess, Value a) {
    const Value magnitude = std::min(4 * (guess - 8192), 32767);
    return a == 0 ? 0 : a < 0 ? -magnitude : magnitude;
  }

  bool fits() const { return fits_; }

 private:
  // Lanes have 16 bits.
  Value narrow(Value v) {
    fits_ = fits_ && v == static_cast<int16_t>(v);
    return v;
  }
  bool fits_ = true;
};

constexpr auto kLet = [](const char*, int32_t v) { return v; };

TEST(GeneratedFixedPoint, IsTheReferenceForAllInputs) {
  HostMachine m;
  for (int32_t a = -32768; a <= 32767; ++a) ASSERT_EQ(sigmoid(m, a, 3), ops::fixed_point::sigmoid(a, 3, kLet)) << a;
  for (int bits = 0; bits <= 6; ++bits)
    for (int32_t a = -32768; a <= 32767; ++a)
      ASSERT_EQ(tanh(m, a, bits), ops::fixed_point::tanh(a, bits, kLet)) << a << " with " << bits;
  EXPECT_TRUE(m.fits());
}

int64_t counted(const tir::Kernel& kernel, const std::vector<int32_t>& table) {
  const auto made = implementation_of(kernel);
  std::vector<uint8_t> bytes(table.size() * 4);
  std::memcpy(bytes.data(), table.data(), bytes.size());
  std::vector<CountArgument> arguments(4, {.pointer = true});
  arguments[3].table = bytes;
  EXPECT_TRUE(fits_literal(made->lines)) << name_of(kernel);
  const auto every = count_every_step(*made, arguments);
  EXPECT_EQ(every, count_instructions(*made, arguments)) << name_of(kernel);
  return every.value_or(-1);
}

TEST(GeneratedGates, VectorCostsAreExact) {
  int kernels = 0;
  for (int64_t pixels : {1, 2})
    for (int64_t depth : {1, 15, 16, 17, 32, 80, 257})
      for (int64_t unroll : {1, 2, 5, 20})
        for (int flags = 0; flags < 8; ++flags) {
          const GateProducts g{
              pixels, GateProducts::kTile / pixels, depth, (flags & 1) != 0, (flags & 2) != 0, (flags & 4) != 0,
              unroll};
          const int64_t groups = 3;
          const auto table =
              g.table(std::vector<int32_t>(static_cast<size_t>(groups * g.channels)), {1 << 30, 0}, 7, 9);
          EXPECT_EQ(g.cost().instructions(groups, unroll), counted(*g.kernel(), table)) << name_of(*g.kernel());
          ++kernels;
        }
  EXPECT_EQ(kernels, 2 * 7 * 4 * 8);
}

TEST(GeneratedGates, ScalarCostsAreExact) {
  int kernels = 0;
  for (auto [pixels, channels] : {std::pair(1, 8), std::pair(1, 2), std::pair(3, 2)})
    for (int64_t depth : {1, 5, 8, 24, 257})
      for (int64_t unroll : {1, 2, 9})
        for (int64_t left : {0, 3, 9})
          for (int flags = 0; flags < 4; ++flags) {
            const DspGateProducts g{pixels, channels, depth, (flags & 1) != 0, left, (flags & 2) != 0, 72, unroll};
            const int64_t groups = 3;
            EXPECT_EQ(g.cost().instructions(groups, unroll),
                      counted(*g.kernel(), g.table({1 << 30, -2}, groups * channels)))
                << name_of(*g.kernel());
            ++kernels;
          }
  EXPECT_EQ(kernels, 3 * 5 * 3 * 3 * 4);
}

// Cycles of a pair of channels, by the stepper.
double cycles_of_pair(const OwnGemm& own) {
  constexpr int kUnroll = PairGemm::kWordsUnroll;
  const auto made = implementation_of(own.words ? *gemm_words_kernel(own.pixels, 12, false, kUnroll, false, own)
                                                : *gemm_pairs_kernel(own.pixels, 12, false, false, false, own));
  double cycles[2] = {};
  for (int i = 0; i < 2; ++i) {
    const std::vector<int32_t> table = own.words ? gemm_words_shape(own.steps, 1 + i, own.stride, own.pixels, false)
                                                 : gemm_shape(own.steps, 1 + i, own.stride, own.pixels, false);
    std::vector<uint8_t> bytes(table.size() * 4);
    std::memcpy(bytes.data(), table.data(), bytes.size());
    std::vector<CountArgument> arguments(4, {.pointer = true});
    arguments[3].table = bytes;
    cycles[i] = count_cycles(*made, arguments, kCortexM4).value_or(0);
  }
  EXPECT_TRUE(fits_literal(made->lines)) << own.pixels << " " << own.steps << " " << own.unroll;
  return cycles[1] - cycles[0];
}

TEST(GeneratedProducts, CyclesAreExact) {
  int kernels = 0;
  for (const OwnGemm& tile : {OwnGemm{.pixels = 2}, OwnGemm{.pixels = 3}, OwnGemm{.pixels = 4, .words = true}})
    for (int64_t steps : {2, 4, 5, 6, 7, 20, 32, 75})
      for (int64_t unroll : {0, 1, 2, 5}) {
        OwnGemm own = tile;
        own.steps = steps, own.stride = 64, own.unroll = unroll;
        ASSERT_TRUE(own.fits());
        if (unroll > own.pieces() / 2) continue;
        EXPECT_EQ(cycles_of_pair(own), own.cycles()) << own.pixels << " pixels, " << steps << " steps, " << unroll;
        ++kernels;
      }
  EXPECT_EQ(kernels, 56);
}

// A layer of few groups, or one that is alone, takes the kernel that others share.
TEST(GeneratedProducts, TextIsWorthItsBytes) {
  TargetInfo target;
  const OwnGemm three{32, 64}, two{32, 64, 0, 2}, four{32, 64, 0, 4}, far{32, 4096}, words{4, 16, 0, 4, true};
  const auto best = OwnGemm::best(three, 42 * 32, 4, target);
  ASSERT_TRUE(best);
  EXPECT_EQ(best->unroll, 0);
  EXPECT_TRUE(OwnGemm::best(two, 63 * 32, 4, target));
  EXPECT_TRUE(OwnGemm::best(words, 576 * 8, 1, target));
  EXPECT_FALSE(OwnGemm::best(three, 42 * 32, 1, target));
  EXPECT_FALSE(OwnGemm::best(two, 32, 1, target));
  EXPECT_FALSE(OwnGemm::best(four, 42 * 32, 4, target));
  EXPECT_FALSE(OwnGemm::best(far, 42 * 32, 4, target));
  target.level = Level::kSize;
  EXPECT_FALSE(OwnGemm::best(three, 42 * 32, 4, target));
}

// Texts of columns, in both forms.
TEST(GeneratedColumns, TextsAreLiterals) {
  int kernels = 0;
  for (int64_t stride : {1, 2})
    for (int64_t turn : {1, 5, 8})
      for (int64_t rows : {0, 8, 25})
        for (int flags = 0; flags < 6; ++flags) {
          const DepthwiseColumn c{128, stride, turn, rows, 40, 511, 8, 2};
          const tir::KernelPtr kernel = dw_column_kernel(c, flags % 3 == 0 ? 0 : 12, flags % 3 == 1, flags >= 3);
          const auto made = implementation_of(*kernel);
          ASSERT_TRUE(made) << name_of(*kernel);
          // Far rows take longer lines; what is too long for a literal gets a pragma.
          EXPECT_LT(literal_bytes(made->lines), 5000u) << name_of(*kernel);
          EXPECT_TRUE(turn == 8 || fits_literal(made->lines)) << name_of(*kernel);
          ++kernels;
        }
  EXPECT_EQ(kernels, 2 * 3 * 3 * 6);
}

// The loop of a layer's own kernel has as many outputs as save more than their bytes cost, and preferably a divisor of
// the rows.
TEST(GeneratedColumns, IterationsDivideTheRows) {
  TargetInfo target;
  const DepthwiseShape kws{25, 5, 320, 64, 16, 2}, small{6, 6, 768, 128, 16, 2}, far{25, 5, 5000, 64, 16, 2};
  EXPECT_EQ(column_of(8, 1, kws, 64, target).turn, 5);
  EXPECT_EQ(column_of(8, 1, kws, 64, target).skip(), 0);
  EXPECT_EQ(column_of(8, 1, small, 128, target).turns(), 1);
  EXPECT_EQ(column_of(8, 1, far, 64, target).turn, 1);
  target.level = Level::kSize;
  EXPECT_FALSE(column_of(8, 1, kws, 64, target).own());
}

TEST(GeneratedLstm, TextsAreLiterals) {
  for (const char* set : {"mve", "dsp"}) {
    std::vector<tir::KernelPtr> kernels = {lstm_sigmoid_kernel(set), lstm_hidden_kernel(set, false),
                                           lstm_hidden_kernel(set, true, false), lstm_hidden_kernel(set, true)};
    for (int bits = 0; bits <= 6; ++bits) kernels.push_back(lstm_tanh_kernel(set, bits));
    for (int exponent = -15; exponent <= -9; ++exponent)
      for (int32_t clip : {0, 20480})
        for (bool part : {false, true}) kernels.push_back(lstm_cell_kernel(set, exponent, clip, part));
    for (const tir::KernelPtr& kernel : kernels) {
      const auto made = implementation_of(*kernel);
      ASSERT_TRUE(made) << name_of(*kernel);
      EXPECT_TRUE(fits_literal(made->lines)) << name_of(*kernel);
    }
  }
}

}  // namespace
}  // namespace aotc::cores::arm
