// SPDX-License-Identifier: Apache-2.0
// Removes channels of int8 tensors that have one value whatever the input, or that nobody reads,
// from the operators that produce and read them. The one thing to know: outputs stay the same bit
// for bit, but tensors between them lose channels, and their names then end with
// kLiveChannelsSuffix.
#pragma once

#include "passes/pass.h"

namespace aotc::passes {

Status remove_dead_channels(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
