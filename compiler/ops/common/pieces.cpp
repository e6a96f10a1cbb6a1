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
  const bool run = m.extents.empty() || (m.extents.size() == 1 && m.from_strides[0] == 1 && m.to_strides[0] == 1);
  if (!run || m.to_offset != 0) return std::nullopt;
  return std::vector<int64_t>{m.from_offset};
}

bool takes_pieces(const graph::Op& op) { return dynamic_cast<const TakesPieces*>(op.definition) != nullptr; }

std::optional<std::vector<int64_t>> pieces_of(const OpView& op) {
  const auto* taker = dynamic_cast<const TakesPieces*>(op.op.definition);
  auto pieces = taker != nullptr ? taker->pieces(op) : std::nullopt;
  if (!pieces) return std::nullopt;
  for (size_t r = 0; r < op.op.results.size(); ++r)
    if (op.result(r).dtype != op.operand(0).dtype || (*pieces)[r] + op.result(r).elements() > op.operand(0).elements())
      return std::nullopt;
  return pieces;
}

std::optional<std::vector<int64_t>> joined_of(const OpView& op) {
  const auto* joiner = dynamic_cast<const JoinsPieces*>(op.op.definition);
  return joiner != nullptr ? joiner->joined(op) : std::nullopt;
}

Lowered lower_joined(const OpView& op, const std::vector<bool>& there) {
  const std::vector<int64_t> begins = *joined_of(op);
  LoweringBuilder f(op, std::string(op.op.name()));
  std::vector<tir::BufferPtr> from(there.size());
  for (size_t i = 0; i < there.size(); ++i)
    if (!there[i]) from[i] = f.operand(i);
  const tir::BufferPtr whole = f.result();
  for (size_t i = 0; i < there.size(); ++i)
    if (!there[i]) emit_run(f, whole, begins[i], from[i], 0, op.operand(i).elements());
  return f.finish("copy behind what is kept");
}

Lowered lower_moved_piece(const OpView& op) {
  const int64_t begin = (*pieces_of(op))[0], elements = op.result().elements();
  LoweringBuilder f(op, std::string(op.op.name()));
  const tir::BufferPtr from = f.operand(0), to = f.result();
  // What memcpy takes must not overlap: as many elements at a time as the piece moves by.
  const int64_t turns = elements / begin, rest = elements % begin;
  f.loop("row", 0, turns, [&](const tir::Ex& row) {
    const tir::Ex at = f.let("to", row * begin);
    emit_run(f, to, at, from, at + begin, begin);
  });
  if (rest > 0) emit_run(f, to, turns * begin, from, (turns + 1) * begin, rest);
  return f.finish("move to the front");
}

}  // namespace aotc::ops
