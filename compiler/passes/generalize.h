// SPDX-License-Identifier: Apache-2.0
// Pass that replaces operators by more general ones of which they are special cases (a depthwise convolution of one
// channel is a convolution). Results stay bit-identical, in float too.
#pragma once

#include "passes/pass.h"

namespace aotc::passes {

Status generalize(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
