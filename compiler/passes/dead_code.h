// SPDX-License-Identifier: Apache-2.0
// Removes operators no output depends on. The one thing to know: operators that touch variables, or
// have no results, are kept: they act by their effect.
#pragma once

#include "passes/pass.h"

namespace aotc::passes {

Status remove_dead_code(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
