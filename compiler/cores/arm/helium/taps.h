// SPDX-License-Identifier: Apache-2.0
// Depthwise windows of any size for cores with vectors: eight channels of a pixel at a time, tap by tap, with products
// of half words (VMULLB, VMULLT). Elements are bytes or half words; weights of nine bits are half words. The stream of
// eight channels is their weights of each tap, then the vectors of requantisation: even channels, odd ones. A last
// group of fewer channels overlaps the one before it.
#pragma once

#include <cstdint>
#include <vector>

#include "cores/arm/helium/gemm.h"

namespace aotc::cores::arm {

struct MveTaps {
  static constexpr int64_t kMostColumns = 12;  // written out
  static constexpr int64_t kMostStep = 127;    // that a load moves its pointer by
  // Words of the table that mve_taps takes as shape, beside the zero point and the clamp of MveGemm. Steps are in
  // bytes.
  enum Shape {
    kPixels = MveGemm::kPairs,
    kGroups = MveGemm::kGroups,
    kRows = MveGemm::kXPixel,
    kColumnStep = MveGemm::kOutPixel,
    kPixelStep = MveGemm::kXStep,
    kGroupStep = MveGemm::kOutStep,  // from behind the last tap to the next eight channels
    kOutPixel = MveGemm::kChannels,
    kRowSkip = MveGemm::kRowSkip,  // from behind the last column to the next row
  };
  int64_t columns = 1;       // of a window
  int64_t bytes = 1;         // of an element
  int64_t weight_bytes = 1;  // of a weight
  int64_t step = 0;          // bytes from column to column, 0: those of the shape
};

// In elements.
struct MveTapSteps {
  int64_t pixels = 1, rows = 1;  // of a call; of a window
  int64_t column = 0, row = 0;   // from tap to tap
  int64_t pixel = 0;             // from window to window
};

// Weights [taps][channels].
std::vector<int32_t> mve_taps_stream(const MveTaps& taps, const std::vector<int16_t>& weights, int64_t channels,
                                     const MveScaling& scaling);
std::vector<int32_t> mve_taps_shape(const MveTaps& taps, const MveTapSteps& steps, int64_t channels,
                                    const MveScaling& scaling);
// (stream, x, out, shape): `pixels` pixels of a row.
tir::KernelPtr mve_taps_kernel(const MveTaps& taps, int64_t channels, const MveScaling& scaling);

}  // namespace aotc::cores::arm
