// SPDX-License-Identifier: Apache-2.0
#include "passes/pass.h"

#include "passes/rewrite.h"

namespace aotc::passes {

using graph::Graph;
using graph::Op;
using graph::Port;
using graph::TensorId;

namespace {

bool is_quantized(const graph::TensorType& type) { return is_int(type.dtype) && type.quantization.present(); }

// A conversion between float and a quantised type, whichever of the two it starts from.
bool converts(const Graph& graph, const Op& op, bool from_float) {
  if (!ops::definition_of(op).traits().conversion || !is_unary(op)) return false;
  const graph::TensorType& from = graph[op.operands[0]].type;
  const graph::TensorType& to = graph[op.results[0]].type;
  return from_float ? is_float(from.dtype) && is_quantized(to) : is_quantized(from) && is_float(to.dtype);
}

void strip_input(Graph& graph, Port& port, const std::vector<int>& users, std::vector<bool>& dead) {
  if (users.empty() || graph.is_kept(port.tensor)) return;
  auto op_at = [&](int index) -> const Op& { return graph.ops[static_cast<size_t>(index)]; };
  TensorId quantized = op_at(users[0]).results.empty() ? TensorId{} : op_at(users[0]).results[0];
  for (int user : users) {
    const Op& op = op_at(user);
    if (!converts(graph, op, true) || graph.is_kept(op.results[0]) ||
        graph[op.results[0]].type != graph[quantized].type)
      return;
  }
  for (int user : users) {
    replace_uses(graph, op_at(user).results[0], quantized);
    dead[static_cast<size_t>(user)] = true;
  }
  port.tensor = quantized;
}

void strip_output(const Graph& graph, Port& port, const std::vector<int>& definer) {
  int index = definer[static_cast<size_t>(port.tensor.value)];
  if (index < 0) return;
  const Op& op = graph.ops[static_cast<size_t>(index)];
  if (!converts(graph, op, false)) return;
  TensorId quantized = op.operands[0];
  // A port needs storage of its own at the caller.
  if (graph.is_given(quantized) || graph.is_output(quantized) || graph.is_constant(quantized)) return;
  port.tensor = quantized;
}

}  // namespace

Status strip_boundary_float(Graph& graph, const PassOptions& options, Diagnostics&) {
  if (!options.strip_boundary_float) return success();
  graph::UseDef chains = graph::compute_use_def(graph);
  std::vector<bool> dead(graph.ops.size(), false);
  for (Port& port : graph.inputs) strip_input(graph, port, chains.users[static_cast<size_t>(port.tensor.value)], dead);
  for (Port& port : graph.outputs) strip_output(graph, port, chains.definer);
  // Dequantizing operators that lost their port go with the dead code; quantizing ones define what
  // is now an input, so they cannot stay.
  remove_ops(graph, dead);
  return success();
}

}  // namespace aotc::passes
