// SPDX-License-Identifier: Apache-2.0
// Operators that are cases of more general ones (a depthwise convolution of one channel is a
// convolution) become those. The one thing to know: results are the same bit for bit, in float too.
#pragma once

#include "passes/pass.h"

namespace aotc::passes {

Status generalize(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
