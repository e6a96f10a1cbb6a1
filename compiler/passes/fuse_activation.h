// SPDX-License-Identifier: Apache-2.0
// Pass that moves an activation into the attributes of the operator that produces its operand. Float clamps are equal
// in both places; quantised ones are fused only if both tensors have the same type and the activation equals that clamp
// on every value.
#pragma once

#include "passes/pass.h"

namespace aotc::passes {

Status fuse_activation(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
