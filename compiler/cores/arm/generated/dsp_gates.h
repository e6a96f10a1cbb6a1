// SPDX-License-Identifier: Apache-2.0
// DspGateProducts: a small matrix product of int8 rows of any length with packed weights, requantised to int16, for
// SMLAD. Rows are a panel of halfwords, [step][pixel][2]: a step is two elements of every row. Weights of two channels
// a and b share a word, 256 * b + a in each half, as in cores/arm/dsp/gemm.h.
#pragma once

#include <cstdint>
#include <vector>

#include "cores/implementation.h"
#include "kernelgen/segment_cost.h"
#include "support/numerics.h"
#include "tir/tir.h"

namespace aotc::cores::arm {

struct DspGateProducts {
  // A tile has 1 or 3 pixels x 2 channels, or 1 pixel x 8 channels.
  static constexpr int64_t kPixels = 3, kMostSum = int64_t{1} << 23;
  // Words of the table.
  enum Word { kStreamBytes, kRowBytes, kMultiplier, kHalf, kRight, kWords };

  int64_t pixels = 1;
  int64_t channels = 8;
  int64_t depth = 0;     // of the rows
  bool add = false;      // adds to what `out` holds, saturated
  int64_t left = 0;      // shift of the multiplier to the left
  bool right = true;     // it has a shift to the right
  int64_t out_step = 0;  // elements from pixel to pixel in `out`
  int64_t unroll = 1;    // pieces of the inner loop written out

  int64_t steps() const { return (depth + 3) / 4 * 2; }  // whole words of four elements
  int64_t panel_halves() const { return steps() * pixels * 2; }
  kernelgen::SegmentCost cost() const;

  // The stream of `rows` rows of weights [rows][depth]: for each group of channels its biases and the words of all
  // steps. Rows are a multiple of `channels`.
  std::vector<int32_t> stream(const std::vector<int8_t>& weights, const std::vector<int32_t>& bias) const;
  // For `rows` rows.
  std::vector<int32_t> table(QuantizedMultiplier scale, int64_t rows) const;
  // (stream, panel, out, table).
  tir::KernelPtr kernel() const;
  static DspGateProducts of(const tir::Kernel& kernel);
};

// (x, panel, words): `words` words of four bytes of a row to its place in a panel of `pixels`.
tir::KernelPtr dsp_pack_kernel(int64_t pixels);

Implementation dsp_gates(const tir::Kernel& kernel);
Implementation dsp_pack(const tir::Kernel& kernel);

}  // namespace aotc::cores::arm
