// SPDX-License-Identifier: Apache-2.0
// Pass that removes channels of int8 tensors that have the same value for all inputs of the network, or that nothing
// reads. The operators that produce and read these channels become smaller, and outputs stay bit-identical. Tensors
// that lose channels get the suffix kLiveChannelsSuffix.
#pragma once

#include "passes/pass.h"

namespace aotc::passes {

Status remove_dead_channels(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
