// SPDX-License-Identifier: Apache-2.0
#include "ops/common/nibbles.h"

namespace aotc::ops {

bool packs_nibbles(const OpView& op, const TargetInfo& target) {
  if (op.operand(1).dtype != DType::kI4 || target.level == Level::kSpeed) return false;
  bool vectors = target.vector_bytes && op.operand(0).dtype == DType::kI8;
  return !vectors || target.level == Level::kSize;
}

std::vector<int8_t> pack_nibbles(const std::vector<int8_t>& weights, int64_t channels, int64_t k, int64_t block) {
  std::vector<int8_t> out;
  for (int64_t start : tile_starts(channels, block))
    for (int64_t i = 0; i < k; i += 2)
      for (int64_t c = 0; c < block; ++c) {
        auto at = static_cast<size_t>((start + c) * k + i);
        int low = weights[at] & 15, high = i + 1 < k ? weights[at + 1] & 15 : 0;
        out.push_back(static_cast<int8_t>(high << 4 | low));
      }
  return out;
}

tir::Ex load_nibble(const tir::BufferPtr& packed, const tir::Ex& begin, const tir::Ex& k) {
  tir::Ex byte = load(packed, begin + (k >> 1));
  int64_t known = 0;
  if (!k.is_imm(&known)) return shl_wrapping(byte, tir::Ex(28) - ((k & 1) << 2)) >> 28;
  return known % 2 == 1 ? byte >> 4 : shl_wrapping(byte, 28) >> 28;
}

}  // namespace aotc::ops
