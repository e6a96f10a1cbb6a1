// SPDX-License-Identifier: Apache-2.0
// Texts of kernels for Helium that write out rows and blocks: all that a layer can ask for are string literals of C99.
#include <gtest/gtest.h>
#include <algorithm>

#include "cores/arm/helium/gemm.h"
#include "cores/arm/helium/held.h"
#include "cores/arm/helium/taps.h"
#include "cores/arm/thumb.h"
#include "cores/implementation.h"

namespace aotc::cores::arm {
namespace {

// Every form of requantisation.
std::vector<MveScaling> scalings() {
  std::vector<MveScaling> out;
  for (ClampI32 clamp : {ClampI32{-128, 127}, ClampI32{-100, 100}}) {
    for (int shift : {3, 20}) {
      MveScaling line;
      line.left = 10;
      line.shift = shift;
      line.clamp = clamp;
      out.push_back(line);
    }
    for (bool products : {false, true}) {
      MveScaling twice;
      twice.form = MveScaling::Form::kTwice;
      twice.products = products;
      twice.clamp = clamp;
      out.push_back(twice);
    }
    MveScaling even;
    even.form = MveScaling::Form::kEven;
    even.clamp = clamp;
    out.push_back(even);
  }
  // With the sums of windows: the longest texts.
  for (MveScaling with_sums : std::vector<MveScaling>(out)) {
    with_sums.window_sums = true;
    out.push_back(with_sums);
  }
  return out;
}

// Scalings of products of bytes, of which some are none.
std::vector<MveScaling> product_scalings() {
  std::vector<MveScaling> out = scalings();
  for (bool window : {false, true}) {
    out.emplace_back().form = MveScaling::Form::kUnscaledBytes;
    out.back().window_sums = window;
  }
  return out;
}

// Scalings of half words.
std::vector<MveScaling> wide_scalings() {
  std::vector<MveScaling> out;
  for (int shift : {0, 4})
    for (int32_t least : {-32768, 0}) {
      MveScaling scaling;
      scaling.form = MveScaling::Form::kHalves;
      scaling.shift = shift;
      scaling.clamp = {least, 32767};
      out.push_back(scaling);
    }
  return out;
}

void expect_fits(const tir::Kernel& kernel) {
  const auto made = implementation_of(kernel);
  ASSERT_TRUE(made);
  std::string called = kernel.family;
  for (const auto& [name, value] : kernel.parameters) called += " " + name + " " + std::to_string(value);
  // Sums of windows take more lines; what is too long for a literal gets a pragma.
  const bool window = std::any_of(kernel.parameters.begin(), kernel.parameters.end(),
                                  [](const auto& p) { return p.first == "window" && p.second != 0; });
  EXPECT_TRUE(fits_literal(made->lines) || (window && literal_bytes(made->lines) < 5000)) << called;
  // Each has a form in C with intrinsics. One in 31 is translated: that takes milliseconds.
  static int texts = 0;
  if (texts++ % 31 != 0) return;
  const auto translated = implementation_of(kernel, KernelForm::kIntrinsics);
  ASSERT_TRUE(translated) << called;
  EXPECT_EQ(translated->header, "arm_mve.h");
  EXPECT_TRUE(translated->lines.empty() && !translated->body.empty()) << called;
}

TEST(HeliumText, ProductsOfRows) {
  int64_t shared = 0;
  for (const MveScaling& scaling : product_scalings())
    for (int64_t rows : {1, 2, 3, 4, 5, 9})
      for (int64_t elements : {7, 16, 24, 32, 48, 64, 80, 96, 112, 128, 144, 250, 256})
        for (int64_t pixel : {0, 16, 32, 48})
          for (int64_t channels : {8, 19}) {
            MveBlocks blocks(rows, elements, elements < MveGemm::kBlock && rows > 1);
            if (pixel > 0) blocks.share(pixel);
            if (!blocks.fit_gemm()) continue;
            shared += blocks.apart > 0 ? 1 : 0;
            expect_fits(*mve_gemm_kernel(blocks, channels, scaling));
          }
  EXPECT_GT(shared, 100);
}

TEST(HeliumText, ProductsOfHalfWords) {
  for (const MveScaling& scaling : wide_scalings())
    for (int64_t rows : {1, 3, 5})
      for (int64_t elements : {3, 8, 13, 24, 32, 72, 125})
        for (int64_t pixel : {0, 16, 32}) {
          MveBlocks blocks(rows, elements, 2 * elements < MveGemm::kBlock && rows > 1, 2);
          if (pixel > 0) blocks.share(pixel);
          if (blocks.fit_gemm()) expect_fits(*mve_gemm_kernel(blocks, 19, scaling));
        }
}

TEST(HeliumText, ProductsOfOnePixel) {
  for (const MveScaling& scaling : product_scalings())
    for (int64_t elements : {3, 16, 40, 128, 136, 1024, 4095})
      expect_fits(*mve_gemv_kernel({1, elements, false}, 16, scaling));
  std::vector<MveScaling> wide = wide_scalings();
  wide.emplace_back().form = MveScaling::Form::kUnscaled;
  for (const MveScaling& scaling : wide)
    for (int64_t elements : {3, 8, 20, 64, 512, 2047})
      expect_fits(*mve_gemv_kernel({1, elements, false, 2}, 16, scaling));
}

TEST(HeliumText, Taps) {
  std::vector<MveScaling> all = scalings();
  for (const MveScaling& scaling : wide_scalings()) all.push_back(scaling);
  for (const MveScaling& scaling : all)
    for (int64_t columns : {int64_t{1}, int64_t{3}, MveTaps::kMostColumns})
      for (int64_t step : {0, 48})
        for (int64_t weight_bytes : {1, 2})
          if (!scaling.window_sums)
            expect_fits(*mve_taps_kernel({columns, scaling.bytes(), weight_bytes, step}, 19, scaling));
}

TEST(HeliumText, ProductsOfHeldWeights) {
  for (const MveScaling& scaling : scalings())
    for (int64_t elements : {5, 16, 27, 32})
      if (auto held = MveHeld::of({1, elements, false}, elements, 48, 16, scaling)) expect_fits(*held->kernel(scaling));
}

}  // namespace
}  // namespace aotc::cores::arm
