// SPDX-License-Identifier: Apache-2.0
// Pass that fuses an activation into the operator that computes its operand: the activation becomes an attribute of
// that operator, also if views are between the two. In float, both forms clamp equally. A quantised activation is fused
// only if its operand and result have the same type and the fused clamp is proven equal for every value.
#pragma once

#include "passes/pass.h"

namespace aotc::passes {

Status fuse_activation(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
