// SPDX-License-Identifier: Apache-2.0
// An operator of a segment as the same operator on windows that are as large as some rows, or pixels, of its result
// need.
#pragma once

#include "plan/segments.h"

namespace aotc::plan {

struct RowOperator {
  graph::Graph graph;
  graph::Op op;
  ops::OpView whole;
  double calls;  // in a run

  // For `count` rows of the result, in what its tensor is counted in.
  RowOperator(const graph::Graph& from, const SegmentRows& rows, size_t stage, int64_t count);

  // What the CPU is good at may need more than a row for it: in portable C, where that is fewer instructions.
  ops::Lowered lower(const ops::TargetInfo& of_all) const;
};

}  // namespace aotc::plan
