// SPDX-License-Identifier: Apache-2.0
// Operators that only move elements: one description of a move (Movement) that the reference
// evaluation runs and the lowering prints. The one thing to know: neither looks at values, only at
// the size of an element, so every type works; and dimensions that are contiguous on both sides are
// merged first, so the emitted code is as few loops as possible around the longest memcpy.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "ops/lowering.h"
#include "ops/operator.h"

namespace aotc::ops {

struct TypeEntry;  // ops/signature.h

// for every index i in `extents`: to[to_offset + sum i * to_strides] =
//                                 from[from_offset + sum i * from_strides].
// All in elements; strides may be negative or 0.
struct Movement {
  graph::Shape extents;
  std::vector<int64_t> to_strides, from_strides;
  int64_t to_offset = 0, from_offset = 0;
};

// Row-major strides of a shape.
std::vector<int64_t> strides_of(const graph::Shape& shape);

// The same move without dimensions of size 1, neighbours merged where both sides allow it.
Movement simplified(const Movement& move);

void run_movement(const Movement& move, std::span<const uint8_t> from, std::span<uint8_t> to, int element_bytes);
// `at` is added to the offset in `to`.
void emit_movement(tir::FunctionBuilder& f, const tir::BufferPtr& to, const tir::BufferPtr& from, const Movement& move,
                   const tir::Ex& at = 0);

// Copies `elements` neighbouring elements: memcpy, or assignments where a call would cost more.
void emit_run(tir::FunctionBuilder& f, const tir::BufferPtr& to, const tir::Ex& to_index, const tir::BufferPtr& from,
              const tir::Ex& from_index, int64_t elements);
// Sets `elements` neighbouring elements to `value` (the bytes of one element).
void emit_fill(tir::FunctionBuilder& f, const tir::BufferPtr& to, const tir::Ex& to_index,
               std::span<const uint8_t> value, int64_t elements);

// A shape seen from one axis: [outer, axis, inner].
struct AxisView {
  int64_t outer = 1, axis = 1, inner = 1;
};
AxisView view_at(const graph::Shape& shape, size_t axis);

// A whole cut into parts along an axis: `outer` rows, each of which is the rows of the parts one
// after the other, row_elements[i] of part i.
struct Parts {
  int64_t outer = 1;
  std::vector<int64_t> row_elements;

  int64_t row() const;  // elements of a row of the whole
};
void join_parts(const Parts& parts, const std::vector<std::span<const uint8_t>>& from, std::span<uint8_t> whole,
                int element_bytes);
void split_parts(const Parts& parts, std::span<const uint8_t> whole, const std::vector<std::span<uint8_t>>& to,
                 int element_bytes);
// Operand i of the operator is part i, result 0 the whole; or the other way round.
Lowered lower_join(const OpView& op, const Parts& parts);
Lowered lower_split(const OpView& op, const Parts& parts);

// What operators that move elements take: every type. `bool_note` says so where LiteRT leaves bool
// out.
std::vector<TypeEntry> movable_types(std::string_view bool_note = {});

// Each of `operands` has the type and, if quantised, the quantisation of each result: elements are
// copied as they are. Per-channel quantisation is refused, its axis would have to move along.
bool check_moves(const OpView& op, std::span<const size_t> operands, Diagnostics& diags);
// Does operand 0 have one amount of padding in each list for each dimension? Reports [op-attribute].
bool check_amounts(const OpView& op, std::span<const int64_t> before, std::span<const int64_t> after,
                   Diagnostics& diags);

}  // namespace aotc::ops
