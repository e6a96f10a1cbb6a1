// SPDX-License-Identifier: Apache-2.0
// Evaluation of operators that are stated once, as TIR: the lowered function in the TIR interpreter. The
// one thing to know: such an operator has no second statement of ours, so its cases are what says that
// it is right.
#pragma once

#include "ops/operator.h"

namespace aotc::ops {

// Runs `op`'s own lowering, by default for a target that nothing is known of. Results are zeros where it fails.
void evaluate_lowering(const OpView& op, const EvalData& data, const TargetInfo& target = {});

}  // namespace aotc::ops
