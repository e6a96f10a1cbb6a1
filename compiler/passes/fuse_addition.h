// SPDX-License-Identifier: Apache-2.0
// Pass that fuses the addition of a constant to a float matrix product into the product, as its bias. The product adds
// its bias last, so results stay bit-identical. A product that clamps its results before the addition is not fused.
#pragma once

#include "passes/pass.h"

namespace aotc::passes {

Status fuse_addition(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
