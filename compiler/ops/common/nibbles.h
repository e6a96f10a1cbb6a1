// SPDX-License-Identifier: Apache-2.0
// Weights of 4 bits (i4): the graph has a byte for each, and lowerings keep two of them in a byte where
// that is what is wanted. The one thing to know: as values they are int8 weights, so whatever takes
// those takes them, only with twice the bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/common/gemm.h"
#include "ops/operator.h"

namespace aotc::ops {

// Are the operator's weights to be packed? Not for speed, and not where vectors multiply bytes unless size
// is wanted.
bool packs_nibbles(const OpView& op, const TargetInfo& target);

// Bytes of pack_nibbles for one channel's weights: k / 2 rounded up.
inline int64_t nibble_bytes(int64_t k) { return (k + 1) / 2; }

// Weights [channels][k] as [tile][k / 2][C] for the tiles of tile_starts(channels, C): a byte holds
// weight k in its low half and k + 1 in its high half, 0 behind the last.
std::vector<int8_t> pack_nibbles(const std::vector<int8_t>& weights, int64_t channels, int64_t k, int64_t block);

// Weight `k` of the channel whose bytes begin at packed[begin], of a block of one.
tir::Ex load_nibble(const tir::BufferPtr& packed, const tir::Ex& begin, const tir::Ex& k);

}  // namespace aotc::ops
