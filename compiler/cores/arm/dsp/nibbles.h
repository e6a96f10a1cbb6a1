// SPDX-License-Identifier: Apache-2.0
// Products with weights of 4 bits for cores that multiply two pairs of halfwords at once (SMLAD). A word
// of the weight stream holds a step (two elements k) of four channels a, b, c and d: each half is
// 4096 * d + 256 * (c + 8) + 16 * (b + 8) + (a + 8). The one thing to know: nothing is taken apart by
// shifts. The word itself and what three masks leave of it are multiplied, and the sums of a channel come
// out of the differences of these products and of the sum of the panel, which the 8s stand for.
//
// Stream of a group of four channels: with `bias` a word for each, one word a step, then for each
// channel its multiplier, offset and, with `sign`, a third word, as in cores/arm/dsp/gemm.h. Of a group
// of eight: eight words, two a step, eight lines. Panels are those of gemm.h.
#pragma once

#include "cores/arm/dsp/gemm.h"

namespace aotc::cores::arm {

// Layouts that the meaning and the implementation share.
struct NibbleGemm {
  static constexpr int kUnroll = 8;  // steps written out; the loop is entered in its middle for the rest
  // By pixels and quads of channels; 4 bytes each.
  static constexpr int step_instructions(int64_t pixels, int64_t quads) {
    return static_cast<int>(2 + quads * (3 + 4 * pixels));
  }
  // Words of the table that the kernel takes as shape.
  enum Shape { kSteps, kGroups, kStride, kEntry, kPanelBytes, kStreamBytes };
  static constexpr int kLeft = 12;  // sums are requantised shifted left by this
  // A sum, its bias included, has to be below.
  static constexpr int64_t kMostSum = int64_t{1} << 19;
};

// Pixels and channels that a call takes at a time; together 4 or 8 accumulators.
struct NibbleTile {
  int64_t pixels = 1, channels = 4;
  bool bias = true;
};

// How the sums are requantised, and whether they have biases: folded into the lines where that is exact.
struct NibbleLines {
  PairLines lines;
  std::vector<int32_t> bias;  // empty: in the lines
};
// Nothing if the clamp is not int8's own range, a sum is too large or no line is exact.
std::optional<NibbleLines> fit_nibble_lines(const Requantization& what, std::vector<int32_t> bias);

// For groups of tile.channels that begin at channels `first`.
std::vector<int32_t> nibble_stream(const std::vector<int8_t>& weights, int64_t k, const PairOrder& order,
                                   const std::vector<int64_t>& first, int64_t channels, const NibbleLines& lines);
// `stride`: from pixel to pixel in the output.
std::vector<int32_t> nibble_shape(int64_t steps, int64_t groups, int64_t stride, const NibbleTile& tile, bool sign);
// (stream, panel, out, shape)
tir::KernelPtr gemm_nibbles_kernel(const NibbleTile& tile, int shift, bool sign);
Work nibble_work(const NibbleTile& tile, int64_t steps, int64_t groups, bool sign);

}  // namespace aotc::cores::arm
