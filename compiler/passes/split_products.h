// SPDX-License-Identifier: Apache-2.0
// Pass that splits a matrix product with constant weights into several products if its result is read only in parts.
// Each new product has the weights of one part and runs when the part is needed. Exporters compute queries, keys and
// values of attention in one such product. Results stay bit-identical, because each element is computed as before.
#pragma once

#include "passes/pass.h"

namespace aotc::passes {

Status split_products(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
