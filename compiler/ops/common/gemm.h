// SPDX-License-Identifier: Apache-2.0
// The one matrix product: out[p][c] = bias[c] + sum over k of x[p][k] * w[c][k], computed in tiles
// of P pixels by C channels whose accumulators live in registers. Pointwise and k x k convolutions
// and fully connected layers are this with different ways to find x. Tiles at the end overlap their
// neighbours instead of shrinking, so there is one loop and no tail code.
#pragma once

#include <functional>
#include <vector>

#include "ops/lowering.h"

namespace aotc::ops {

// First index of every tile of `size` in `total`; the last one is moved back to fit.
std::vector<int64_t> tile_starts(int64_t total, int64_t size);

// Weights [channels][k] re-packed as [tile][k][C], for the tiles of tile_starts(channels, C).
template <typename T>
std::vector<T> pack_weights(const std::vector<T>& weights, int64_t channels, int64_t k, int64_t block) {
  std::vector<T> out;
  out.reserve(weights.size());
  for (int64_t start : tile_starts(channels, block))
    for (int64_t i = 0; i < k; ++i)
      for (int64_t c = 0; c < block; ++c) out.push_back(weights[static_cast<size_t>((start + c) * k + i)]);
  return out;
}

struct GemmTile {
  int64_t k = 1;
  int64_t pixels = 1;    // P
  int64_t channels = 1;  // C
  tir::BufferPtr x;
  std::vector<tir::Ex> x_base;  // index of x[p][0] for each p
  tir::BufferPtr weights;       // packed
  tir::Ex weights_base;         // index of the tile's first weight
  int64_t unroll = 4;           // most steps of k in one loop iteration
  bool nibbles = false;         // weights are bytes of pack_nibbles (ops/common/nibbles.h)
  // One per channel; empty: 0 and 1. Only integer weights of float activations have them.
  std::vector<tir::Ex> zero_points = {}, scales = {};
};

// Pixels per tile, at most `most`, for `total` pixels: the choice that costs fewest loads and
// multiplies, counting what overlapping tiles compute twice.
int64_t choose_pixels(int64_t total, int64_t most, int64_t channels);

// Steps of k per turn of the loop: the largest up to `most` that divides k, so nothing remains.
int64_t unroll_for(int64_t k, int64_t most);

// x * w in the type of the accumulator that it is added to.
tir::Ex product_for(const tir::Ex& acc, const tir::Ex& x, const tir::Ex& w);

// Emits the tile. If x is float and weights are integers, a weight less its zero point, times its scale, becomes a
// float when it is multiplied. Accumulators start as init(p, c), then the loop over k. Returns the P * C accumulator
// variables, p-major.
std::vector<tir::Ex> emit_gemm_tile(tir::FunctionBuilder& f, const GemmTile& tile,
                                    const std::function<tir::Ex(int64_t p, int64_t c)>& init);

}  // namespace aotc::ops
