// SPDX-License-Identifier: Apache-2.0
// Moves an activation into the attributes of the operator that produces its operand. The one thing
// to know: float clamps are the same wherever they run; quantised ones are fused only when both
// tensors have the same type and the activation is that clamp on every value.
#pragma once

#include "passes/pass.h"

namespace aotc::passes {

Status fuse_activation(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
