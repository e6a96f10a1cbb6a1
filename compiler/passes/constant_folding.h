// SPDX-License-Identifier: Apache-2.0
// Pass that replaces operators whose operands are all constant by constant results, computed by the operators'
// reference evaluation. Results that would enlarge flash, and work that would slow the compiler, are left to the
// device.
#pragma once

#include "passes/pass.h"

namespace aotc::passes {

Status fold_constants(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
