// SPDX-License-Identifier: Apache-2.0
#include "ops/operator.h"

#include <algorithm>

#include <fmt/format.h>

#include "ops/tflite_op.h"

namespace aotc::ops {

void add_all_operators(OperatorSet& set);  // generated from the folders of ops/

Status Operator::import_tflite(const TfliteOp&, graph::Op& op, Diagnostics&) const {
  op.attributes = default_attributes();
  return success();
}

void OperatorSet::add(std::unique_ptr<Operator> op) { ops_.push_back(std::move(op)); }

const Operator* OperatorSet::find(std::string_view name) const {
  for (const auto& op : ops_)
    if (op->name() == name) return op.get();
  return nullptr;
}

const Operator* OperatorSet::find_tflite(int builtin) const {
  for (const auto& op : ops_)
    for (int code : op->tflite_builtins())
      if (code == builtin) return op.get();
  return nullptr;
}

std::vector<const Operator*> OperatorSet::all() const {
  std::vector<const Operator*> out;
  for (const auto& op : ops_) out.push_back(op.get());
  std::sort(out.begin(), out.end(),
            [](const Operator* a, const Operator* b) { return a->name() < b->name(); });
  return out;
}

const OperatorSet& operators() {
  static const OperatorSet set = [] {
    OperatorSet made;
    add_all_operators(made);
    return made;
  }();
  return set;
}

graph::DefinitionLookup definition_lookup() {
  return [](std::string_view name) -> const graph::OpDefinition* { return operators().find(name); };
}

Status verify_op(const OpView& op, Diagnostics& diags) {
  const Operator& definition = definition_of(op.op);
  auto shapes = definition.infer(op, diags);
  if (!shapes) return kFailure;
  if (shapes->size() != op.op.results.size()) {
    diags.error(op.where(), "op-operands",
                fmt::format("{} has {} results, the model lists {}", op.op.name(), shapes->size(),
                            op.op.results.size()));
    return kFailure;
  }
  bool agrees = true;
  for (size_t i = 0; i < shapes->size(); ++i) {
    if ((*shapes)[i] == op.result(i).shape) continue;
    diags.error(op.where(), "op-shape",
                fmt::format("result {} has shape {} in the model, the operands give {}", i,
                            graph::to_string(op.result(i).shape), graph::to_string((*shapes)[i])));
    agrees = false;
  }
  return agrees ? definition.verify(op, diags) : Status(kFailure);
}

Status verify_graph(const graph::Graph& graph, Diagnostics& diags) {
  if (!graph::verify_structure(graph, diags)) return kFailure;
  bool good = true;
  for (const graph::Op& op : graph.ops)
    if (!verify_op({graph, op}, diags)) good = false;
  return good ? success() : Status(kFailure);
}

void evaluate_op(const graph::Graph& graph, const graph::Op& op, const EvalData& data) {
  OpView view{graph, op};
  const Operator& definition = definition_of(op);
  if (definition.traits().view) {
    std::copy(data.operands[0].begin(), data.operands[0].end(), data.results[0].begin());
    return;
  }
  definition.evaluate(view, data);
}

StateValues initial_states(const graph::Graph& graph) {
  StateValues out;
  for (const graph::State& state : graph.states)
    out.emplace_back(state.initial.bytes.begin(), state.initial.bytes.end());
  return out;
}

std::vector<std::vector<uint8_t>> evaluate_graph(const graph::Graph& graph,
                                                 const std::vector<std::vector<uint8_t>>& inputs,
                                                 StateValues* states) {
  const StateValues before = states != nullptr ? *states : initial_states(graph);
  std::vector<std::vector<uint8_t>> values(graph.tensors.size());
  auto slot = [&](graph::TensorId id) -> std::vector<uint8_t>& {
    return values[static_cast<size_t>(id.value)];
  };
  std::vector<bool> is_constant(graph.tensors.size());
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    // A copy, because constants in a file may lie at any alignment.
    if (!graph.tensors[i].constant) continue;
    is_constant[i] = true;
    auto bytes = graph.tensors[i].constant->bytes;
    values[i].assign(bytes.begin(), bytes.end());
  }
  for (size_t i = 0; i < graph.inputs.size(); ++i) slot(graph.inputs[i].tensor) = inputs[i];
  for (size_t i = 0; i < before.size(); ++i) slot(graph.states[i].before) = before[i];
  for (const graph::Op& op : graph.ops) {
    EvalData data;
    for (graph::TensorId id : op.results)
      slot(id).resize(static_cast<size_t>(graph[id].type.bytes()));
    for (graph::TensorId id : op.operands)
      data.operands.push_back(id.valid() ? std::span<const uint8_t>(slot(id))
                                         : std::span<const uint8_t>());
    for (graph::TensorId id : op.results) data.results.push_back(slot(id));
    evaluate_op(graph, op, data);
  }
  for (size_t i = 0; states != nullptr && i < before.size(); ++i)
    (*states)[i] = slot(graph.states[i].after);
  for (size_t i = 0; i < values.size(); ++i)
    if (is_constant[i]) values[i].clear();
  return values;
}

}  // namespace aotc::ops
