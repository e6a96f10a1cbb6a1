// SPDX-License-Identifier: Apache-2.0
// Pass that removes channels of int8 tensors that are constant for all inputs, or that nothing reads, from the
// operators that produce and read them. Outputs stay bit-identical; tensors that lose channels get the suffix
// kLiveChannelsSuffix.
#pragma once

#include "passes/pass.h"

namespace aotc::passes {

Status remove_dead_channels(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
