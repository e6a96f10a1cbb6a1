// SPDX-License-Identifier: Apache-2.0
// Removes operators that hand on their operand unchanged (padding by nothing, whole slices,
// reshapes to the same shape, clamps that never bind), and lets a view of a view look at the first
// tensor. The one thing to know: an operator stays if removing it would make an output port show an
// input or a constant, because the caller's buffers are distinct.
#pragma once

#include "passes/pass.h"

namespace aotc::passes {

Status remove_identities(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
