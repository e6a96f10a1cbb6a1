// SPDX-License-Identifier: Apache-2.0
// Pass that removes operators on which no output depends. Operators that access variables, or have no results, stay
// because of their side effects.
#pragma once

#include "passes/pass.h"

namespace aotc::passes {

Status remove_dead_code(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
