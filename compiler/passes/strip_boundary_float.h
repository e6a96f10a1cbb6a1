// SPDX-License-Identifier: Apache-2.0
// With PassOptions::strip_boundary_float, this pass makes the model's interface quantised: an input that is only
// quantised becomes the quantised tensor, an output that is the dequantised form of a tensor becomes that tensor. Port
// names stay, so callers see the same fields with another type.
#pragma once

#include "passes/pass.h"

namespace aotc::passes {

Status strip_boundary_float(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
