// SPDX-License-Identifier: Apache-2.0
// Pass that removes unreferenced tensors and renumbers the others (graph::compact). No other pass changes tensor ids.
#pragma once

#include "passes/pass.h"

namespace aotc::passes {

Status compact_tensors(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
