// SPDX-License-Identifier: Apache-2.0
// Pass that fuses a pad operator with real value 0 into the operator that reads its result, as padding attributes
// (Traits::zero_pads), also through a view that adds or removes dimensions of size 1. Float weights must be finite
// constants, because 0 times infinity is NaN.
#pragma once

#include "passes/pass.h"

namespace aotc::passes {

Status fuse_padding(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
