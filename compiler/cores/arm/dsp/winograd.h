// SPDX-License-Identifier: Apache-2.0
// 3 x 3 convolutions of stride 1 by Winograd's F(2 x 2, 3 x 3), in integers and exact, for cores with
// the DSP extension: 16 products for four outputs of a channel instead of 36. With
//
//   B^T = [1 0 -1 0; 0 1 1 0; 0 -1 1 0; 0 1 0 -1]   G = [2 0 0; 1 1 1; 1 -1 1; 0 0 2]
//   A^T = [1 1 1 0; 0 1 -1 -1]
//
// four times the convolution is A^T [sum over channels of (G g G^T) (B^T d B)] A. The one thing to
// know: transformed inputs are within 4 * 128 and transformed weights within 9 * 127, so both are
// halfwords; weights are shifted left as far as that holds, and sums may wrap on the way, since what
// comes out in the end is known to fit 32 bits.
//
// Buffers, all words of one scratch table:
//   strip  [column][4 channels][row of B^T d: 4][halves (0,2) and (1,3)]: four rows of the image and
//          a column beyond either side
//   panel  [step][product: 16][tile: 4]: a step is two channels, its halves as in the strip; then
//          [product][tile][channel of a pair] for what one pair of output channels makes, then for
//          each tile the place of its first output and a word that is not used
//
// Products are in the order of `product`, which lets one sum go on where another was noted down.
#pragma once

#include <algorithm>

#include "cores/arm/dsp/gemm.h"

namespace aotc::cores::arm {

struct Winograd {
  static constexpr int kTiles = 4;  // of 2 x 2 outputs, made together
  static constexpr int kProducts = 16;
  // Steps of a product, all written out, twice: with more, what a compiler puts behind the text could
  // be too far away for what it puts before it.
  static constexpr int kMostSteps = 36;
  // Words of the table that winograd_pairs takes as shape.
  enum Shape { kShapePairs, kShapePixel, kShapeRow, kShapeStreamBytes };

  // Place of the product of row i and column j: rows 1, 2, 0, 3, in each of them columns 1, 0, 2, 3.
  // Of a row, [1] and then [1] + [0] are noted, and [2] and then [2] + [3].
  static constexpr int product(int i, int j) {
    constexpr int kRow[] = {2, 0, 1, 3}, kColumn[] = {1, 0, 2, 3};
    return 4 * kRow[i] + kColumn[j];
  }
  // Words of the panel before what a pair makes, and before the places.
  static constexpr int64_t sums_at(int64_t steps) { return steps * kProducts * kTiles; }
  static constexpr int64_t places_at(int64_t steps) { return sums_at(steps) + kProducts * 8; }
  static constexpr int64_t panel_words(int64_t steps) { return places_at(steps) + 2 * kTiles; }
};

// Weights [channels][3][3][k], transformed and shifted: [channel][product][k].
struct WinogradWeights {
  std::vector<int16_t> taps;
  int left = 2;  // accumulators come out shifted left by this
};
// Shifted left by at most `most_left` in all, 2 of it being the algorithm's own.
WinogradWeights winograd_weights(const std::vector<int8_t>& weights, int64_t channels, int64_t k, int most_left);

// Per pair of channels: for each of the eight runs of two products, where its sums begin (the biases,
// then zeros) and two words a step; then the channels' lines.
std::vector<int32_t> winograd_stream(const WinogradWeights& weights, int64_t k, const std::vector<int64_t>& first,
                                     const std::vector<int32_t>& bias, const PairLines& lines);
std::vector<int32_t> winograd_shape(int64_t steps, int64_t pairs, int64_t pixel, int64_t row, bool sign);

// (x, strip, row bytes, words): the rows of B^T d from `words` words of four image rows. `x` is the
// first of them that exists: without `top` the first, without `bottom` the last is zero points.
tir::KernelPtr winograd_rows_kernel(bool top, bool bottom, int32_t zero);
// (strip, panel, column, words): B^T d B of the tile whose first column the strip points to; a
// column is `column` words long, of which `words` times 8 are used. The panel begins at the tile.
tir::KernelPtr winograd_tile_kernel();
// (stream, panel, out, shape): all outputs of four tiles.
tir::KernelPtr winograd_pairs_kernel(int64_t steps, int shift, bool sign);

// What two rows of results take: the rows of B^T d once, and as much for every four tiles.
struct WinogradWork {
  Work strip, tiles;

  // The convolution of an image of `rows` x `columns` outputs.
  Work of(int64_t rows, int64_t columns) const;
  // Of what can be done by itself.
  double longest_turn(const Costs& costs) const { return std::max(costs.of(strip), costs.of(tiles)); }
};
WinogradWork winograd_work(int64_t columns, int64_t in_channels, int64_t out_channels, bool sign);

}  // namespace aotc::cores::arm
