// SPDX-License-Identifier: Apache-2.0
// Pass that orders an unrolled network step by step, so that the operators of each step are adjacent and in the same
// order. It applies if the same weights are read repeatedly, and only if there are then more repeats or a lower peak of
// live tensors, and neither is worse than before.
#pragma once

#include "passes/pass.h"

namespace aotc::passes {

Status order_repeats(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
