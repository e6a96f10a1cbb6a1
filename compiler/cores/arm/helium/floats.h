// SPDX-License-Identifier: Apache-2.0
// Matrix products and depthwise windows of float32 in vectors of four output channels. Each channel keeps the
// reference's order: one running sum from 0, a rounded product added at a time, then the bias and the clamp. Vectors
// flush subnormal numbers to zero, which the FPU does not. They report it in two sticky flags of FPSCR, so the kernel
// reads these flags before it stores a tile, and computes a tile in which a number was flushed once more in the FPU.
// Results are exact for all inputs.
#pragma once

#include <cstdint>
#include <vector>

#include "cores/arm/lowering.h"
#include "cores/family.h"
#include "cores/implementation.h"
#include "ops/common/activation.h"

namespace aotc::cores::arm {

// Words of the table `shape`; steps are bytes.
struct FloatShape {
  enum Word { kPixels, kTurns, kXStep, kOutStep, kGroups, kGroupBytes, kRows, kRowSkip, kWords };
  int64_t pixels = 1, x_step = 0, out_step = 0;      // steps from a pixel to the next
  int64_t rows = 1, row_elements = 1, row_step = 0;  // of a window; the step in elements
  int64_t channels = 1;
};

// The tile of a product and what its text is made for.
struct FloatTile {
  static constexpr int64_t kLanes = 4, kMostSums = 4, kMostPixels = 3, kMostUnroll = 6;
  static constexpr int64_t kHead = 4;  // words before the weights: the least and the largest result

  int64_t pixels = 1, vectors = 1;  // together at most kMostSums accumulators
  int64_t unroll = 1;               // elements of a row written out, a divisor of it
  bool rows = false;                // windows have several rows
  bool part = false;                // the last tile may have fewer pixels
  int64_t back = 0;                 // channels by which the last group overlaps the one before
  int64_t lanes = kLanes;           // that are stored; fewer only if there is one vector
  bool clamps = true;

  int64_t channels() const { return kLanes * vectors; }
  int64_t groups(int64_t all) const { return (all + channels() - 1) / channels(); }
  // Instructions of a call without subnormal numbers, nearly.
  int64_t cost(const FloatShape& shape) const;
  // The cheapest tile.
  static FloatTile of(const FloatShape& shape, ops::ClampF32 clamp);

  std::vector<int32_t> words(const FloatShape& shape) const;
  // Weights [channel][element] as [group][element][channel], a group's biases behind its weights.
  std::vector<float> stream(const std::vector<float>& weights, const std::vector<float>& bias,
                            ops::ClampF32 clamp) const;
  // (stream, x, out, shape)
  tir::KernelPtr kernel() const;
};

Implementation mve_floats(const tir::Kernel& kernel);

// Words of the table `shape` of a depthwise kernel; steps are bytes. kXBack and kOutBack: by how much the last tile
// overlaps the one before.
struct FloatTapsShape {
  enum Word { kTiles, kGroups, kXStep, kOutStep, kXTile, kColumnStep, kXBack, kOutBack, kRowSkip, kWords };
  int64_t pixels = 1, x_step = 0, out_step = 0;
  int64_t row_step = 0, column_step = 0;  // elements from a tap to the one below, and to the next
  int64_t channels = 1;                   // at least FloatTile::kLanes
};

// The tile of a depthwise kernel: pixels x four channels.
struct FloatTaps {
  static constexpr int64_t kMostPixels = 4, kMostColumns = 12, kMostStep = 508;

  int64_t pixels = 1;
  int64_t rows = 1, columns = 1;
  int64_t step = 0;   // bytes from a tap to the next if loads can move by them, else 0
  bool part = false;  // tiles overlap
  int64_t back = 0;   // channels by which the last group overlaps the one before
  bool clamps = true;

  int64_t cost(const FloatTapsShape& shape) const;
  static FloatTaps of(const FloatTapsShape& shape, int64_t rows, int64_t columns, ops::ClampF32 clamp);
  std::vector<int32_t> words(const FloatTapsShape& shape) const;
  // Weights [tap][channel] as [group][tap][channel], a group's biases before its weights.
  std::vector<float> stream(const std::vector<float>& weights, const std::vector<float>& bias,
                            ops::ClampF32 clamp) const;
  // (stream, x, out, shape)
  tir::KernelPtr kernel() const;
};

Implementation mve_float_taps(const tir::Kernel& kernel);

// Lowerings and kernels for cores with vectors of floats.
Extension helium_float_extension();
std::optional<Lowered> lower_conv_2d_floats(const OpView& op, const TargetInfo& target);
std::optional<Lowered> lower_depthwise_conv_2d_floats(const OpView& op, const TargetInfo& target);
std::optional<Lowered> lower_fully_connected_floats(const OpView& op, const TargetInfo& target);

}  // namespace aotc::cores::arm
