// SPDX-License-Identifier: Apache-2.0
// Pass that replaces an operator by a more general one, if it is a special case of that operator: a depthwise
// convolution of one channel becomes a convolution. Results stay bit-identical, also in float.
#pragma once

#include "passes/pass.h"

namespace aotc::passes {

Status generalize(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
