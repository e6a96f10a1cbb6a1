// SPDX-License-Identifier: Apache-2.0
// Which of the moves around branches and loops need no code, because the value is computed where it is
// to go. The one thing to know: what is not shown to be safe stays a copy, so this only ever saves work.
#pragma once

#include <optional>
#include <vector>

#include "ops/lowering.h"
#include "plan/classes.h"
#include "plan/flatten.h"

namespace aotc::plan {

// Joins classes and sets Move::nothing. `lowered` by operator of the flat graph, nothing for views that
// are not copied; `classes` has views joined, and where inputs, constants, states and outputs lie.
void settle_moves(FlatGraph& flat, Classes& classes, const std::vector<std::optional<ops::Lowered>>& lowered);

// May the operator's last result, of class `next`, lie exactly where its operands of class `old` do? They are
// then one operand, which is read no later than its bytes are written over. Write orders of operators with
// several results are about the last one: the next value of a state.
bool in_place(const graph::Graph& graph, const graph::Op& op, const std::vector<ops::Arg>& args,
              const std::vector<ops::WriteOrder>& orders, const Classes& classes, int old, int next);

}  // namespace aotc::plan
