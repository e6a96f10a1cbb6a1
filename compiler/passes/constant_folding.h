// SPDX-License-Identifier: Apache-2.0
// Pass that evaluates operators whose operands are all constant, with the operators' reference implementation, and
// replaces them by constants. An operator is not folded if its result would increase flash or its evaluation would take
// the compiler too long.
#pragma once

#include "passes/pass.h"

namespace aotc::passes {

Status fold_constants(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
