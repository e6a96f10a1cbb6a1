// SPDX-License-Identifier: Apache-2.0
// Products with few elements k: one block or two, of which the weights of four channels or two stay in registers while
// all pixels pass. Pixels are as many at a time, a tile, as give eight sums. The one thing to know: all pixels are read
// again for every group of channels.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cores/arm/helium/gemm.h"

namespace aotc::cores::arm {

struct MveHeld {
  static constexpr int kVectors = 4;  // of weights
  static constexpr int kMostStep = 127;
  // Words of the table that mve_held takes as shape; steps are in bytes.
  enum Shape {
    kTiles,
    kOutStep,      // from tile to tile
    kXBack,        // from the end of the pixels to their begin
    kOutBack,      // and to the next group of channels
    kStreamBytes,  // of all groups
    kPlaces,       // of a tile's outputs, eight of 16 bits, as they are narrowed
    kShapeWords = kPlaces + 4
  };

  // For so many pixels that lie `step` bytes apart; nothing where they are no whole tiles, or the channels no groups.
  static std::optional<MveHeld> of(const MveBlocks& blocks, int64_t step, int64_t pixels, int64_t channels,
                                   const MveScaling& scaling);

  int64_t blocks = 1;  // of a pixel
  int64_t first = 0;   // as in MveBlocks
  int64_t step = 0;
  int64_t channels = 0;

  int64_t group() const { return kVectors / blocks; }  // channels
  int64_t tile() const { return 2 * blocks; }          // pixels
  // Instructions of a call for so many pixels, and those of mve_gemm.
  int64_t cost(int64_t pixels) const;
  int64_t other_cost(int64_t pixels) const;
  // So much less is worth the bytes that two channels' own multipliers take.
  static constexpr int64_t kWorth = 32;
  // Pixels of a call if results may take the place of what it reads: a part of all that divides them.
  int64_t part(int64_t pixels) const;

  // Weights [channels][k].
  std::vector<int32_t> stream(const std::vector<int8_t>& weights, const MveBlocks& cut,
                              const MveScaling& scaling) const;
  std::vector<int32_t> shape(int64_t pixels) const;
  // (stream, x, out, shape).
  tir::KernelPtr kernel(const MveScaling& scaling) const;

 private:
  // Where the outputs of a pixel of a tile and a channel of a group are among the eight.
  int64_t place(int64_t pixel, int64_t channel) const;
};

}  // namespace aotc::cores::arm
