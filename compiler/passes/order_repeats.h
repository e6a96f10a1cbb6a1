// SPDX-License-Identifier: Apache-2.0
// Orders an unrolled network step after step, so that what each step does stands together and in
// the same order each time. The one thing to know: it is done where the same weights are read again
// and again, and only if then more repeats or fewer bytes are alive at a time, and neither is worse
// than before.
#pragma once

#include "passes/pass.h"

namespace aotc::passes {

Status order_repeats(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
