// SPDX-License-Identifier: Apache-2.0
// Pass that reorders an unrolled recurrent network, so that the operators of each time step are adjacent and in the
// same order. It applies if several operators read the same weights. The new order must give more repeats or a lower
// peak of live tensors, and neither may be worse than before.
#pragma once

#include "passes/pass.h"

namespace aotc::passes {

Status order_repeats(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
