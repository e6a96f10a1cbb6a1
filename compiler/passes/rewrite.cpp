// SPDX-License-Identifier: Apache-2.0
#include "passes/rewrite.h"

#include <algorithm>

namespace aotc::passes {

using graph::Graph;
using graph::Op;
using graph::Port;
using graph::TensorId;

bool is_valid(const Graph& graph, const Op& op) {
  Diagnostics ignored;
  ops::OpView view{graph, op};
  const ops::Operator& definition = ops::definition_of(op);
  auto shapes = definition.infer(view, ignored);
  if (!shapes || shapes->size() != op.results.size()) return false;
  for (size_t i = 0; i < shapes->size(); ++i)
    if ((*shapes)[i] != view.result(i).shape) return false;
  return definition.verify(view, ignored).ok();
}

bool is_unary(const Op& op) {
  if (op.results.size() != 1 || op.operands.empty() || !op.operands[0].valid()) return false;
  return std::none_of(op.operands.begin() + 1, op.operands.end(), [](TensorId id) { return id.valid(); });
}

int sole_producer(const Graph& graph, const graph::UseDef& chains, TensorId id, int user) {
  if (!id.valid() || graph.is_kept(id)) return -1;
  size_t at = static_cast<size_t>(id.value);
  int producer = chains.definer[at];
  if (producer < 0 || chains.users[at] != std::vector<int>{user}) return -1;
  const Op& op = graph.ops[static_cast<size_t>(producer)];
  bool same_device = op.device == graph.ops[static_cast<size_t>(user)].device;
  return op.results.size() == 1 && same_device ? producer : -1;
}

int producer_before_views(const Graph& graph, const graph::UseDef& chains, TensorId id, int user,
                          std::vector<int>& views) {
  views.clear();
  int producer = sole_producer(graph, chains, id, user);
  while (producer >= 0) {
    const Op& op = graph.ops[static_cast<size_t>(producer)];
    if (!ops::definition_of(op).traits().view || !is_unary(op)) break;
    views.push_back(producer);
    producer = sole_producer(graph, chains, op.operands[0], producer);
  }
  return producer;
}

TensorId add_tensor_like(Graph& graph, graph::UseDef& chains, TensorId id, graph::TensorType type, int producer,
                         int user) {
  graph::Tensor tensor = graph[id];
  tensor.type = std::move(type);
  const TensorId out = graph.add_tensor(std::move(tensor));
  chains.definer.resize(graph.tensors.size(), -1);
  chains.users.resize(graph.tensors.size());
  chains.definer[static_cast<size_t>(out.value)] = producer;
  chains.users[static_cast<size_t>(out.value)] = {user};
  return out;
}

std::optional<std::string> attribute(const Op& op, std::string_view name) {
  for (auto& [field, text] : op.attributes->print())
    if (field == name) return text;
  return std::nullopt;
}

std::shared_ptr<graph::AttributesBase> with_attribute(const graph::AttributesBase& attributes, std::string_view name,
                                                      const std::string& text) {
  std::shared_ptr<graph::AttributesBase> changed = attributes.clone();
  return changed->parse(name, text) ? changed : nullptr;
}

bool replace_uses(Graph& graph, TensorId from, TensorId to) {
  if (graph[from].device != graph[to].device && !graph.is_constant(to)) return false;
  if (graph.is_output(from) && (graph.is_given(to) || graph.is_output(to) || graph.is_constant(to))) return false;
  for (Op& op : graph.ops) std::replace(op.operands.begin(), op.operands.end(), from, to);
  for (Port& port : graph.outputs)
    if (port.tensor == from) port.tensor = to;
  for (graph::State& state : graph.states)
    if (state.after == from) state.after = to;
  return true;
}

}  // namespace aotc::passes
