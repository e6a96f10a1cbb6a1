// SPDX-License-Identifier: Apache-2.0
// Kernels for RISC-V vectors: their forms, tiles and costs. 0.1 CPU seconds.
#include "cores/riscv/vector/vector.h"

#include <gtest/gtest.h>

namespace aotc::cores::riscv {
namespace {

VectorScaling twice(int64_t channels) {
  VectorScaling out;
  out.rows.assign(3, std::vector<int32_t>(static_cast<size_t>(channels), 1));
  return out;
}

TEST(RiscvVectors, KernelsAreTheSameIntrinsicsInBothForms) {
  VectorScaling sums;
  sums.form = VectorScaling::Form::kSums;
  sums.rows.assign(1, std::vector<int32_t>(8, 1));
  for (const tir::KernelPtr& kernel :
       {rvv_gemm_kernel(VectorTile(), twice(8)), rvv_depthwise_kernel(VectorTaps(), twice(8)),
        rvv_gemm_kernel(VectorTile(), sums), rvv_depthwise_kernel(VectorTaps(), sums), rvv_band_kernel()}) {
    const auto made = implementation_of(*kernel), intrinsics = implementation_of(*kernel, KernelForm::kIntrinsics);
    ASSERT_TRUE(made && intrinsics) << kernel->family;
    EXPECT_TRUE(made->lines.empty());
    EXPECT_EQ(made->body, intrinsics->body);
    EXPECT_EQ(made->header, "riscv_vector.h");
    EXPECT_FALSE(implementation_of(*kernel, KernelForm::kC));
  }
}

// 62,947 instructions were counted in the emulator: 0.123 a MAC.
TEST(RiscvVectors, TheTileOfManyChannelsIsThreePixelsWide) {
  const VectorShape shape{125, 64, 64, 1, 64, 64, 64};
  const VectorTile tile = VectorTile::of(shape, twice(64));
  EXPECT_EQ(tile.registers, 8);
  EXPECT_EQ(tile.pixels, 3);
  EXPECT_EQ(tile.unroll, 4);
  EXPECT_NEAR(static_cast<double>(tile.cost(shape, twice(64))), 62947, 0.02 * 62947);
  EXPECT_GT(tile.cost(shape, twice(64), true), 3 * tile.cost(shape, twice(64)));
}

TEST(RiscvVectors, WeightsFollowTheRowsOfScalingAsBytes) {
  const std::vector<int32_t> stream = vector_stream(twice(1), {1, -1, 2, -2, 3});
  EXPECT_EQ(stream, (std::vector<int32_t>{1, 1, 1, static_cast<int32_t>(0xFE02FF01u), 3}));
}

}  // namespace
}  // namespace aotc::cores::riscv
