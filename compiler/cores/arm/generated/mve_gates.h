// SPDX-License-Identifier: Apache-2.0
// GateProducts: a small matrix product of int8 rows of any length with packed weights, requantised to int16. It is the
// product of an LSTM's gates. A tile has `pixels` rows by `channels` weights; its sums are in even core registers.
#pragma once

#include <cstdint>
#include <vector>

#include "cores/implementation.h"
#include "kernelgen/segment_cost.h"
#include "support/numerics.h"
#include "tir/tir.h"

namespace aotc::cores::arm {

struct GateProducts {
  static constexpr int64_t kVector = 16;  // bytes
  static constexpr int64_t kTile = 8;     // sums of a tile
  // Words of the table; the biases follow.
  enum Word { kBiasBytes, kRowStep, kOutStep, kMultiplier, kLeft, kRight, kWords };

  int64_t pixels = 1;               // rows of x: 1 or 2
  int64_t channels = 8;             // rows of weights at a time: pixels * channels is at most kTile
  int64_t depth = 0;                // of the rows
  bool add = false;                 // adds to what `out` holds, saturated
  bool left = false, right = true;  // the shifts of the multiplier that are made
  int64_t unroll = 1;               // vectors of the inner loop written out

  int64_t vectors() const { return depth / kVector; }  // without the last, partial one
  int64_t all_vectors() const { return (depth + kVector - 1) / kVector; }
  // Exact instructions of one call, for each unroll factor.
  kernelgen::SegmentCost cost() const;

  // Packs `rows` rows of weights [rows][depth], rows being a multiple of `channels`: [group][vector][channel][16], the
  // tail filled with zeros.
  std::vector<int8_t> pack(const std::vector<int8_t>& weights, int64_t rows) const;
  // Steps are in elements.
  std::vector<int32_t> table(const std::vector<int32_t>& bias, QuantizedMultiplier scale, int64_t row_step,
                             int64_t out_step) const;
  // (weights, x, out, table).
  tir::KernelPtr kernel() const;
  static GateProducts of(const tir::Kernel& kernel);
};

Implementation mve_gates(const tir::Kernel& kernel);

}  // namespace aotc::cores::arm
