// SPDX-License-Identifier: Apache-2.0
// Pass that makes the model's interface quantised, if PassOptions::strip_boundary_float is set. A float input whose
// readers only quantise it is replaced by the quantised tensor. A float output that dequantises a tensor is replaced by
// that tensor. The names of inputs and outputs stay, so callers see the same fields with another type.
#pragma once

#include "passes/pass.h"

namespace aotc::passes {

Status strip_boundary_float(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
