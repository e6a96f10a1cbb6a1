// SPDX-License-Identifier: Apache-2.0
// OwnGemm: a matrix product that is generated for one layer, instead of the kernel of gemm_pairs or gemm_words that
// layers share.
#pragma once

#include <cstdint>
#include <optional>

#include "cores/implementation.h"
#include "ops/lowering.h"
#include "tir/tir.h"

namespace aotc::cores::arm {

// Two or three pixels by pairs, four by words. The sums begin in a block of one or more steps, the others are in pieces
// of equally many (DspTile::piece_steps).
struct OwnGemm {
  static constexpr int64_t kLeastPixels = 2, kMostPixels = 3, kWordsPixels = 4;

  int64_t steps = 0;   // 0: the kernel that layers share
  int64_t stride = 0;  // bytes from pixel to pixel in the output
  int64_t unroll = 0;  // pieces of an iteration; 0: no loop
  int64_t pixels = kMostPixels;
  bool words = false;

  bool operator==(const OwnGemm&) const = default;
  bool fits() const;  // there is such a text, and instructions reach the pixels
  int64_t pieces() const;
  int64_t iterations() const { return unroll > 0 ? pieces() / unroll : 0; }
  int64_t rest() const { return pieces() - iterations() * unroll; }  // pieces before the loop
  // Cycles of a pair of channels on a Cortex-M4, by the schedules of the text's blocks.
  double cycles() const;
  int64_t bytes() const;  // of the text

  // The best form for `groups` pairs of channels a run, the text being shared by `alike` layers. nullopt if it is not
  // worth its bytes, or does not fit. `all`: everything but `unroll`.
  static std::optional<OwnGemm> best(const OwnGemm& all, int64_t groups, int64_t alike, const ops::TargetInfo& target);
};

Implementation own_gemm(const tir::Kernel& kernel);

}  // namespace aotc::cores::arm
