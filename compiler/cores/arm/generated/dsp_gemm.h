// SPDX-License-Identifier: Apache-2.0
// OwnGemm: a matrix product that is generated for one layer, instead of the kernel of gemm_pairs that layers share.
#pragma once

#include <cstdint>
#include <optional>

#include "cores/implementation.h"
#include "ops/lowering.h"
#include "tir/tir.h"

namespace aotc::cores::arm {

// Three pixels, pairs of channels. The sums begin in a block of 1 to 3 steps; a piece has 3.
struct OwnGemm {
  static constexpr int64_t kPixels = 3, kPieceSteps = 3;

  int64_t steps = 0;   // 0: the kernel that layers share
  int64_t stride = 0;  // bytes from pixel to pixel in the output
  int64_t unroll = 0;  // pieces of an iteration; 0: no loop

  bool operator==(const OwnGemm&) const = default;
  int64_t pieces() const { return (steps - 1) / kPieceSteps; }
  int64_t iterations() const { return unroll > 0 ? pieces() / unroll : 0; }
  int64_t rest() const { return pieces() - iterations() * unroll; }  // pieces before the loop
  // Cycles of a pair of channels of a Cortex-M4, without what the shared kernel does as well: requantising and storing.
  int64_t cycles() const;
  int64_t bytes() const;  // of the text

  // The best form for `groups` pairs of channels a run, the text being shared by `alike` layers. nullopt if it is not
  // worth its bytes, or instructions do not reach the pixels.
  static std::optional<OwnGemm> best(int64_t steps, int64_t stride, int64_t groups, int64_t alike,
                                     const ops::TargetInfo& target);
};

Implementation own_gemm(const tir::Kernel& kernel);

}  // namespace aotc::cores::arm
