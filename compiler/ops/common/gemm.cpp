// SPDX-License-Identifier: Apache-2.0
#include "ops/common/gemm.h"

#include <algorithm>

#include <fmt/format.h>

namespace aotc::ops {

using tir::Ex;

std::vector<int64_t> tile_starts(int64_t total, int64_t size) {
  std::vector<int64_t> out;
  for (int64_t at = 0; at < total; at += size) out.push_back(std::min(at, total - size));
  return out;
}

int64_t unroll_for(int64_t k, int64_t most) {
  if (k <= most) return k;
  for (int64_t u = most; u > 1; --u)
    if (k % u == 0) return u;
  return 1;
}

int64_t choose_pixels(int64_t total, int64_t most, int64_t channels) {
  int64_t best = 1, best_cost = INT64_MAX;
  for (int64_t p = std::min(most, total); p >= 1; --p) {
    int64_t tiles = (total + p - 1) / p;
    int64_t cost = tiles * (p + channels + p * channels);
    if (cost < best_cost) best = p, best_cost = cost;
  }
  return best;
}

Ex product_for(const Ex& acc, const Ex& x, const Ex& w) {
  if (acc.type() != DType::kI64) return x * w;
  return cast(DType::kI64, x) * cast(DType::kI64, w);
}

namespace {

using GemmAccumulators = std::vector<Ex>;

// What x is multiplied with for weight `w` of channel c.
Ex factor(const GemmTile& tile, const Ex& w, int64_t c) {
  const bool converts = tile.x->dtype == DType::kF32 && w.type() != DType::kF32;
  if (!converts) return w;
  const auto at = static_cast<size_t>(c);
  const Ex real = cast(DType::kF32, tile.zero_points.empty() ? w : w - tile.zero_points[at]);
  return tile.scales.empty() ? real : real * tile.scales[at];
}

// The step at k + `u`, with the weights of the tile's channels.
void emit_gemm_step(tir::FunctionBuilder& f, const GemmTile& tile, const GemmAccumulators& acc, const Ex& k, int64_t u,
                    const std::vector<Ex>& w) {
  for (int64_t p = 0; p < tile.pixels; ++p) {
    Ex x = f.let(fmt::format("x{}", p), load(tile.x, tile.x_base[static_cast<size_t>(p)] + k + u));
    for (int64_t c = 0; c < tile.channels; ++c) {
      const Ex& a = acc[static_cast<size_t>(p * tile.channels + c)];
      f.assign(a, a + product_for(a, x, w[static_cast<size_t>(c)]));
    }
  }
}

// Two steps of k for each row of bytes, and one for half a row if k is odd.
void emit_nibble_steps(tir::FunctionBuilder& f, const GemmTile& tile, const GemmAccumulators& acc) {
  auto step = [&](const Ex& row, bool both) {
    std::vector<Ex> bytes, low, high;
    for (int64_t c = 0; c < tile.channels; ++c)
      bytes.push_back(f.let(fmt::format("b{}", c), load(tile.weights, tile.weights_base + row * tile.channels + c)));
    for (int64_t c = 0; c < tile.channels; ++c) {
      const Ex& b = bytes[static_cast<size_t>(c)];
      low.push_back(f.let(fmt::format("w{}", c), factor(tile, shl_wrapping(b, 28) >> 28, c)));
      const Ex second = factor(tile, b >> 4, c);
      high.push_back(tile.scales.empty() ? second : f.let(fmt::format("v{}", c), second));
    }
    emit_gemm_step(f, tile, acc, row * 2, 0, low);
    if (both) emit_gemm_step(f, tile, acc, row * 2, 1, high);
  };
  int64_t rows = tile.k / 2, unroll = unroll_for(rows, std::max<int64_t>(tile.unroll / 2, 1));
  if (rows > 0)
    f.loop(
        "k", 0, rows,
        [&](Ex k) {
          for (int64_t u = 0; u < unroll; ++u) step(k + u, true);
        },
        unroll);
  if (tile.k % 2 == 1) step(rows, false);
}

}  // namespace

std::vector<Ex> emit_gemm_tile(tir::FunctionBuilder& f, const GemmTile& tile,
                               const std::function<Ex(int64_t p, int64_t c)>& init) {
  std::vector<Ex> acc;
  for (int64_t p = 0; p < tile.pixels; ++p)
    for (int64_t c = 0; c < tile.channels; ++c) acc.push_back(f.var(fmt::format("acc{}{}", p, c), init(p, c)));
  if (tile.nibbles) {
    emit_nibble_steps(f, tile, acc);
    return acc;
  }
  int64_t unroll = unroll_for(tile.k, tile.unroll);
  auto body = [&](Ex k) {
    for (int64_t u = 0; u < unroll; ++u) {
      std::vector<Ex> w;
      for (int64_t c = 0; c < tile.channels; ++c)
        w.push_back(f.let(
            fmt::format("w{}", c),
            factor(tile, load(tile.weights, tile.weights_base + k * tile.channels + (u * tile.channels + c)), c)));
      emit_gemm_step(f, tile, acc, k, u, w);
    }
  };
  f.loop("k", 0, tile.k, body, unroll);
  return acc;
}

}  // namespace aotc::ops
