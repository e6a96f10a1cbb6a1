// SPDX-License-Identifier: Apache-2.0
#include "passes/generalize.h"

#include "passes/rewrite.h"

namespace aotc::passes {

Status generalize(graph::Graph& graph, const PassOptions&, Diagnostics&) {
  for (graph::Op& op : graph.ops) {
    auto general = ops::definition_of(op).generalized(graph, op);
    if (!general || !is_valid(graph, *general)) continue;
    general->device = op.device;
    op = std::move(*general);
  }
  return success();
}

}  // namespace aotc::passes
