// SPDX-License-Identifier: Apache-2.0
// Texts of the kernels of cores without DSP instructions that fill panels and that multiply by Winograd's algorithm:
// all that a layer can ask for are string literals of C99.
#include <gtest/gtest.h>

#include "cores/arm/thumb.h"
#include "cores/implementation.h"
#include "cores/riscv/winograd.h"
#include "ops/common/triple_pack.h"

namespace aotc::cores {
namespace {

void expect_fits(const tir::Kernel& kernel) {
  const auto made = implementation_of(kernel);
  ASSERT_TRUE(made);
  EXPECT_TRUE(arm::fits_literal(made->lines)) << tir::name_of(kernel);
}

TEST(SmallCoreText, PanelsOfTriples) {
  for (const char* family : {"triple_pack_thumb2", "triple_pack_rv32"})
    for (int64_t unroll = 1; unroll <= 16; ++unroll) expect_fits(*ops::TriplePack{family, unroll}.kernel());
}

TEST(SmallCoreText, ProductsOfWinograd) {
  for (bool sign : {false, true})
    for (int shift : {1, 12, 31}) expect_fits(*riscv::winograd_triples_kernel(shift, sign));
}

}  // namespace
}  // namespace aotc::cores
