// SPDX-License-Identifier: Apache-2.0
// Drops tensors nobody refers to and renumbers the rest (graph::compact as a pass). The one thing
// to know: it is the only pass that changes ids.
#pragma once

#include "passes/pass.h"

namespace aotc::passes {

Status compact_tensors(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
