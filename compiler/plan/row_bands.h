// SPDX-License-Identifier: Apache-2.0
// Operators of segments that take more or fewer pixels at a time than those of a row, where the cost model counts fewer
// instructions: kernels make some pixels at a time, and rows may be too short for them.
#pragma once

#include "plan/segments.h"

namespace aotc::plan {

// The segments with such bands, those that take the least memory first; none where bands bring nothing. `fed`: the
// input of the first is given a row at a time.
std::vector<std::vector<Segment>> with_bands(const graph::Graph& graph, const std::vector<Segment>& segments, bool fed,
                                             const ops::TargetInfo& target);

}  // namespace aotc::plan
