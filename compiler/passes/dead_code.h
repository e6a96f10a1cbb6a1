// SPDX-License-Identifier: Apache-2.0
// Pass that removes operators that no output needs. Operators with side effects stay: those that access variables or
// have no results.
#pragma once

#include "passes/pass.h"

namespace aotc::passes {

Status remove_dead_code(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
