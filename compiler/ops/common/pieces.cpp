// SPDX-License-Identifier: Apache-2.0
#include "ops/common/pieces.h"

namespace aotc::ops {

std::optional<std::vector<int64_t>> pieces_of(const Parts& parts) {
  if (parts.outer != 1) return std::nullopt;
  std::vector<int64_t> begins;
  int64_t at = 0;
  for (int64_t elements : parts.row_elements) {
    begins.push_back(at);
    at += elements;
  }
  return begins;
}

std::optional<std::vector<int64_t>> pieces_of(const AffineMap& map) {
  const AffineMap whole = folded(map);
  if (!whole.fill.empty() || whole.axes.size() != 1 || whole.axes[0].size() != 1) return std::nullopt;
  const Movement& m = whole.axes[0][0];
  const bool run =
      m.extents.empty() || (m.extents.size() == 1 && m.from_strides[0] == 1 && m.to_strides[0] == 1);
  if (!run || m.to_offset != 0) return std::nullopt;
  return std::vector<int64_t>{m.from_offset};
}

bool takes_pieces(const graph::Op& op) { return dynamic_cast<const TakesPieces*>(op.definition) != nullptr; }

std::optional<std::vector<int64_t>> pieces_of(const OpView& op) {
  const auto* taker = dynamic_cast<const TakesPieces*>(op.op.definition);
  auto pieces = taker != nullptr ? taker->pieces(op) : std::nullopt;
  if (!pieces) return std::nullopt;
  for (size_t r = 0; r < op.op.results.size(); ++r)
    if (op.result(r).dtype != op.operand(0).dtype ||
        (*pieces)[r] + op.result(r).elements() > op.operand(0).elements())
      return std::nullopt;
  return pieces;
}

}  // namespace aotc::ops
