// SPDX-License-Identifier: Apache-2.0
// Evaluation while compiling: operators whose operands are all constants, and those that read only
// shapes. The one thing to know: `can_evaluate` says what is possible; whether it is wise, because
// a result may be much larger than what it is made from, is for the caller to decide.
#pragma once

#include "ops/operator.h"

namespace aotc::ops {

// Would the operator be evaluated if everything were known that it reads? Never what is given in C.
bool may_evaluate(const OpView& op);
// Is everything known that the operator reads? Never of what is given in C.
bool can_evaluate(const OpView& op);

// Bytes that its results have more than its operands.
int64_t growth_of(const OpView& op);

// May constants take this many bytes more, so that an operator that could be code is computed now?
inline constexpr int64_t kMostGrowth = 4096;

// Multiplications, and bytes read and written, at most.
int64_t steps_of(const OpView& op);

// Makes the results constants. The operator is verified, and `can_evaluate`.
void evaluate_to_constants(graph::Graph& graph, const graph::Op& op);

}  // namespace aotc::ops
