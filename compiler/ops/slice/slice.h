// SPDX-License-Identifier: Apache-2.0
// slice's attributes, and STRIDED_SLICE as a file states it: masks over a list of entries that need
// not have the operand's rank. The one thing to know: an entry is not a dimension; an ellipsis
// stands for several, and a new axis for none.
#pragma once

#include "ops/operator.h"

namespace aotc::ops {

struct SliceAttrs : graph::Attributes<SliceAttrs> {
  // Per dimension of the operand: begin, begin + stride, ... `counts` times, all inside.
  std::vector<int64_t> begin, strides, counts;
  // The result's: `counts` with dimensions of size 1 added or dropped.
  std::vector<int64_t> shape;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("begin", self.begin);
    field("strides", self.strides);
    field("counts", self.counts);
    field("shape", self.shape);
  }
};

struct StridedSliceSpec {
  std::vector<int64_t> begin, end, strides;
  // Bit i speaks of entry i.
  int32_t begin_mask = 0, end_mask = 0, ellipsis_mask = 0, new_axis_mask = 0, shrink_axis_mask = 0;
  bool end_is_offset = false;  // `end` counts from begin
};

// Settles the entries against operand 0's shape as LiteRT does; reports what LiteRT leaves
// undefined or aotc does not take.
bool resolve_strided_slice(const OpView& op, const StridedSliceSpec& spec, SliceAttrs& out, Diagnostics& diags);

}  // namespace aotc::ops
