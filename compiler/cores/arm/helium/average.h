// SPDX-License-Identifier: Apache-2.0
// Averages of a whole image by channel, for cores with vectors (Helium): sums of eight channels in lanes of 16
// bits. The one thing to know: what remains of the channels is a group that overlaps the one before it.
#pragma once

#include <vector>

#include "cores/arm/helium/gemm.h"

namespace aotc::cores::arm {

struct MveAverage {
  static constexpr int kGroup = 8;             // channels
  static constexpr int64_t kMostPixels = 255;  // whose sum fits 16 bits
  // Words of the table that mve_average takes.
  enum Table { kMultiplier, kOffset, kLeast, kMost, kTableWords };
  int64_t pixels = 1, channels = kGroup;
};

std::vector<int32_t> mve_average_table(const MveScaling& scaling);
// (x, out, table): of pixels of `channels` bytes, at least eight. The scaling is a line.
tir::KernelPtr mve_average_kernel(const MveAverage& what, const MveScaling& scaling);

}  // namespace aotc::cores::arm
