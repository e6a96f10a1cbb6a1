// SPDX-License-Identifier: Apache-2.0
// Replaces operators whose operands are all constants by constant results, computed by the
// operators' own reference evaluation. The one thing to know: results that would bloat flash, and
// work that would bloat compile time, are left for the device.
#pragma once

#include "passes/pass.h"

namespace aotc::passes {

Status fold_constants(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
