// SPDX-License-Identifier: Apache-2.0
// Pass that removes operators that return their operand unchanged: empty padding, slices of the whole tensor, reshapes
// to the same shape, clamps without effect. A view of a view becomes a view of the first tensor. An operator stays if
// its removal would make an output port refer to an input or a constant, because the caller's buffers are distinct.
#pragma once

#include "passes/pass.h"

namespace aotc::passes {

Status remove_identities(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
