// SPDX-License-Identifier: Apache-2.0
// Operators that find elements by indices which may be known only at run time: gather and its
// relatives. The one thing to know: an index is never used before it was checked. Constant ones are
// checked by verify; with others the lowered function fails, as the reference does, before it reads
// or writes anything with an index that is negative or not below its dimension.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ops/lowering.h"
#include "ops/operator.h"

namespace aotc::ops {

// Operand `operand` is a list of tuples of indices, one of each dimension in `sizes`.
struct Tuples {
  size_t operand = 1;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;  // of the same dimensions, in elements of what is indexed
};

// int32 or int64 (int16 if `small`), and in range if constant.
bool check_indices(const OpView& op, const Tuples& tuples, Diagnostics& diags, bool small = true);

// On the host: where each tuple points, or nothing if an index is out of range.
std::optional<std::vector<int64_t>> offsets_of(const OpView& op, const EvalData& data, const Tuples& tuples);
// Emits the same for tuple `tuple`; the function fails where an index is out of range.
tir::Ex emit_offset(LoweringBuilder& f, const OpView& op, const tir::BufferPtr& indices, const Tuples& tuples,
                    const tir::Ex& tuple);

// What the reference leaves when it stops: nothing that may be looked at.
void clear_results(const EvalData& data);

void add_gather_nd(OperatorSet& set);
void add_scatter_nd(OperatorSet& set);
void add_dynamic_update_slice(OperatorSet& set);
void add_one_hot(OperatorSet& set);
void add_reverse_sequence(OperatorSet& set);
void add_segments(OperatorSet& set);

}  // namespace aotc::ops
