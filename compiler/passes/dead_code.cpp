// SPDX-License-Identifier: Apache-2.0
#include "passes/dead_code.h"

#include <algorithm>

#include "passes/rewrite.h"

namespace aotc::passes {

Status remove_dead_code(graph::Graph& graph, const PassOptions&, Diagnostics&) {
  std::vector<bool> live(graph.tensors.size(), false);
  auto is_live = [&](graph::TensorId id) {
    return id.valid() && live[static_cast<size_t>(id.value)];
  };
  auto is_variable = [&](graph::TensorId id) { return id.valid() && graph[id].is_variable; };
  for (const graph::Port& port : graph.outputs) live[static_cast<size_t>(port.tensor.value)] = true;
  std::vector<bool> dead(graph.ops.size(), false);
  for (size_t i = graph.ops.size(); i-- > 0;) {
    const graph::Op& op = graph.ops[i];
    bool needed = op.results.empty() ||
                  std::any_of(op.results.begin(), op.results.end(), is_live) ||
                  std::any_of(op.results.begin(), op.results.end(), is_variable) ||
                  std::any_of(op.operands.begin(), op.operands.end(), is_variable);
    dead[i] = !needed;
    if (!needed) continue;
    for (graph::TensorId id : op.operands)
      if (id.valid()) live[static_cast<size_t>(id.value)] = true;
  }
  remove_ops(graph, dead);
  return success();
}

}  // namespace aotc::passes
