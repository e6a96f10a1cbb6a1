// SPDX-License-Identifier: Apache-2.0
// A product of constant weights that nobody reads but to take it apart becomes several, each with the rows of
// weights of one part: queries, keys and values of attention, which exporters compute at once. The one thing to
// know: each element is computed as before, so results stay the same bit for bit; parts are then computed when they are needed.
#pragma once

#include "passes/pass.h"

namespace aotc::passes {

Status split_products(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
