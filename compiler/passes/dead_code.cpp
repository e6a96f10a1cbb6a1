// SPDX-License-Identifier: Apache-2.0
#include "passes/pass.h"

#include <algorithm>

#include "passes/rewrite.h"

namespace aotc::passes {

Status remove_dead_code(graph::Graph& graph, const PassOptions&, Diagnostics&) {
  std::vector<bool> live(graph.tensors.size(), false), dead(graph.ops.size(), false);
  auto is_live = [&](graph::TensorId id) { return id.valid() && live[static_cast<size_t>(id.value)]; };
  auto need = [&](graph::TensorId id) {
    if (id.valid()) live[static_cast<size_t>(id.value)] = true;
  };
  for (const graph::Port& port : graph.outputs) need(port.tensor);
  // What a state is next is needed if the state is read, which may be found only on the way.
  for (bool again = true; again;) {
    for (size_t i = graph.ops.size(); i-- > 0;) {
      const graph::Op& op = graph.ops[i];
      dead[i] = !op.results.empty() && std::none_of(op.results.begin(), op.results.end(), is_live);
      if (!dead[i]) std::for_each(op.operands.begin(), op.operands.end(), need);
    }
    again = false;
    for (const graph::State& state : graph.states) {
      if (!is_live(state.before) || is_live(state.after)) continue;
      need(state.after);
      again = true;
    }
  }
  remove_ops(graph, dead);
  std::erase_if(graph.states, [&](const graph::State& state) { return !is_live(state.before); });
  return success();
}

Status compact_tensors(graph::Graph& graph, const PassOptions&, Diagnostics&) {
  graph::compact(graph);
  return success();
}

}  // namespace aotc::passes
