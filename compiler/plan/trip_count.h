// SPDX-License-Identifier: Apache-2.0
// How often a loop runs, where constants alone decide it: its condition is evaluated iteration by iteration.
#pragma once

#include <cstdint>

#include "plan/flatten.h"

namespace aotc::plan {

// Iterations of a loop (Step::Kind::kWhile) of `graph`, which is flat; -1 if inputs, states or results of other
// operators decide, or if to find out takes more than some hundred thousand evaluations of an operator.
int64_t trip_count(const graph::Graph& graph, const Step& loop);

}  // namespace aotc::plan
