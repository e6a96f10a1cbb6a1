// SPDX-License-Identifier: Apache-2.0
// Pass that splits a product with constant weights whose result is only read in parts into several products, each with
// the weights of one part: queries, keys and values of attention, which exporters compute at once. Results stay
// bit-identical, because each element is computed as before; a part is computed when it is needed.
#pragma once

#include "passes/pass.h"

namespace aotc::passes {

Status split_products(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
