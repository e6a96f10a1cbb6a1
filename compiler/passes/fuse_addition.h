// SPDX-License-Identifier: Apache-2.0
// Gives what is added to a product of floats to the product, as its bias. The one thing to know: the product adds it as
// its last step, so the results are the same bit for bit; one that bounds its results before they are added to stays.
#pragma once

#include "passes/pass.h"

namespace aotc::passes {

Status fuse_addition(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
