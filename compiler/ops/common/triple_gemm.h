// SPDX-License-Identifier: Apache-2.0
// Integer matrix products for cores that multiply 32 x 32 bits quickly but have no vectors: two
// words hold three pixels, so that two multiplies make three products.
//
//   a = x0 + x1 * 2^21      sum of a * w = s0 + s1 * 2^21  (mod 2^32)
//   b = x2 + x1 * 2^10      sum of b * w = s2 + s1 * 2^10  (mod 2^32)
//
// The low 21 bits of the first sum are s0; the rest is the low 11 bits of s1. Less these, the second
// sum has s2 in its low 21 bits and the next 11 bits of s1 above. The one thing to know: this is
// exact only while all three sums lie in [-2^20, 2^20), so k is cut into segments for which the
// weights prove that, and the sums of segments are added in full words.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "ops/lowering.h"

namespace aotc::ops {

struct TripleGemm {
  static constexpr int64_t kPixels = 3;
  static constexpr int64_t kWords = 2;  // of the panel for one step of k
  static constexpr int kLane = 21;      // bits of s0 and s2
  static constexpr int kRest = 32 - kLane;

  int64_t channels = 1;  // C, made at a time
  int64_t unroll = 1;    // steps of k in one loop iteration; divides `segment`
  bool fences = false;   // between these steps
  int64_t k = 1;
  int64_t padded_k = 1;  // with steps whose weights are 0; a multiple of `segment`
  int64_t segment = 1;   // most steps that are added up in lanes

  int64_t segments() const { return padded_k / segment; }
  int64_t panel_words() const { return padded_k * kWords; }
};

// How to multiply by `weights` [channels][k], or nothing if the target does not do it this way.
std::optional<TripleGemm> plan_triples(const std::vector<int8_t>& weights, int64_t channels, int64_t k,
                                       const TargetInfo& target);

// Instructions for `pixels` by `channels` results, for comparison with plain_cost(). `gathered`:
// the pixels are windows.
int64_t triple_cost(const TripleGemm& plan, int64_t pixels, int64_t channels, bool gathered, const TargetInfo& target);
int64_t plain_cost(int64_t pixels, int64_t channels, int64_t k, bool gathered, const TargetInfo& target);

// Weights [channels][k] as [tile][padded_k][C], for the tiles of tile_starts(channels, C).
std::vector<int8_t> pack_triple_weights(const TripleGemm& plan, const std::vector<int8_t>& weights, int64_t channels);

// Puts elements of three pixels into the panel's two words at `to`.
void emit_triple(tir::FunctionBuilder& f, const tir::BufferPtr& panel, const tir::Ex& to,
                 const std::array<tir::Ex, 3>& x);
// Zeros the steps that pad k; once for all tiles.
void emit_triple_padding(tir::FunctionBuilder& f, const TripleGemm& plan, const tir::BufferPtr& panel);

// Sums of the products of steps begin .. begin + segment: two words for each channel, as above.
using TripleSums = std::vector<std::array<tir::Ex, 2>>;
TripleSums emit_triple_sums(tir::FunctionBuilder& f, const TripleGemm& plan, const tir::BufferPtr& panel,
                            const tir::BufferPtr& weights, const tir::Ex& weights_base, const tir::Ex& begin);
// s0, s1 and s2 of a channel.
std::array<tir::Ex, 3> emit_split(tir::FunctionBuilder& f, const std::array<tir::Ex, 2>& sums);

}  // namespace aotc::ops
