// SPDX-License-Identifier: Apache-2.0
#include "ops/operator.h"

#include <algorithm>

#include <fmt/format.h>

namespace aotc::ops {

void add_all_operators(OperatorSet& set);  // generated from the folders of ops/

void OperatorSet::add(std::unique_ptr<Operator> op) { ops_.push_back(std::move(op)); }

const Operator* OperatorSet::find(std::string_view name) const {
  for (const auto& op : ops_)
    if (op->name() == name) return op.get();
  return nullptr;
}

std::vector<const Operator*> OperatorSet::all() const {
  std::vector<const Operator*> out;
  for (const auto& op : ops_) out.push_back(op.get());
  std::sort(out.begin(), out.end(), [](const Operator* a, const Operator* b) { return a->name() < b->name(); });
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
    diags.error(
        op.where(), "op-operands",
        fmt::format("{} has {} results, the model lists {}", op.op.name(), shapes->size(), op.op.results.size()));
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

namespace {

bool verify_operators(const graph::Graph& graph, Diagnostics& diags) {
  bool good = true;
  for (const graph::Op& op : graph.ops) {
    for (const graph::Graph& region : op.regions) good = verify_operators(region, diags) && good;
    if (!verify_op({graph, op}, diags)) good = false;
  }
  return good;
}

}  // namespace

Status verify_graph(const graph::Graph& graph, Diagnostics& diags) {
  if (!graph::verify_structure(graph, diags)) return kFailure;
  return verify_operators(graph, diags) ? success() : Status(kFailure);
}

namespace {

using Values = std::vector<std::vector<uint8_t>>;

Values evaluate(const graph::Graph& graph, const Values& inputs, Evaluation& evaluation, size_t index);

Values copies_of(const std::vector<std::span<const uint8_t>>& operands, size_t from) {
  Values out;
  for (size_t i = from; i < operands.size(); ++i) out.emplace_back(operands[i].begin(), operands[i].end());
  return out;
}

// What a region gives for `inputs`.
Values run_region(const graph::Graph& region, const Values& inputs, Evaluation& evaluation, size_t index) {
  Values values = evaluate(region, inputs, evaluation, index), out;
  for (const graph::Port& port : region.outputs) {
    const auto& constant = region[port.tensor].constant;
    if (constant) out.emplace_back(constant->bytes.begin(), constant->bytes.end());
    else out.push_back(values[static_cast<size_t>(port.tensor.value)]);
  }
  return out;
}

void evaluate_control(const graph::Op& op, Control control, const EvalData& data, Evaluation& evaluation,
                      size_t index) {
  const size_t second = index + 1 + graph::count_ops(op.regions[0]);
  Values values;
  if (control == Control::kIf) {
    bool first = data.operands[0][0] != 0;
    values = run_region(op.regions[first ? 0 : 1], copies_of(data.operands, 1), evaluation, first ? index + 1 : second);
  } else {
    values = copies_of(data.operands, 0);
    while (run_region(op.regions[0], values, evaluation, index + 1)[0][0] != 0) {
      evaluation.gave_up = evaluation.gave_up || evaluation.iterations-- <= 0;
      if (evaluation.gave_up) break;
      values = run_region(op.regions[1], values, evaluation, second);
    }
  }
  for (size_t i = 0; i < values.size(); ++i) std::copy(values[i].begin(), values[i].end(), data.results[i].begin());
}

Values evaluate(const graph::Graph& graph, const Values& inputs, Evaluation& evaluation, size_t index) {
  // Regions have no states.
  const StateValues before =
      evaluation.states != nullptr && !graph.states.empty() ? *evaluation.states : initial_states(graph);
  Values values(graph.tensors.size());
  auto slot = [&](graph::TensorId id) -> std::vector<uint8_t>& { return values[static_cast<size_t>(id.value)]; };
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
    for (graph::TensorId id : op.results) slot(id).resize(static_cast<size_t>(graph[id].type.bytes()));
    for (graph::TensorId id : op.operands)
      data.operands.push_back(id.valid() ? std::span<const uint8_t>(slot(id)) : std::span<const uint8_t>());
    for (graph::TensorId id : op.results) data.results.push_back(slot(id));
    evaluate_op(graph, op, data, evaluation, index);
    if (evaluation.after) evaluation.after(index, graph, op, data.results);
    ++index;
    for (const graph::Graph& region : op.regions) index += graph::count_ops(region);
  }
  for (size_t i = 0; evaluation.states != nullptr && i < before.size(); ++i)
    (*evaluation.states)[i] = slot(graph.states[i].after);
  for (size_t i = 0; i < values.size(); ++i)
    if (is_constant[i]) values[i].clear();
  return values;
}

}  // namespace

void evaluate_op(const graph::Graph& graph, const graph::Op& op, const EvalData& data, Evaluation& evaluation,
                 size_t index) {
  OpView view{graph, op};
  const Operator& definition = definition_of(op);
  const Traits traits = definition.traits();
  if (traits.control != Control::kNone) return evaluate_control(op, traits.control, data, evaluation, index);
  if (traits.view) {
    std::copy(data.operands[0].begin(), data.operands[0].end(), data.results[0].begin());
    return;
  }
  definition.evaluate(view, data);
}

void evaluate_op(const graph::Graph& graph, const graph::Op& op, const EvalData& data) {
  Evaluation evaluation;
  evaluate_op(graph, op, data, evaluation, 0);
}

StateValues initial_states(const graph::Graph& graph) {
  StateValues out;
  for (const graph::State& state : graph.states)
    out.emplace_back(state.initial.bytes.begin(), state.initial.bytes.end());
  return out;
}

std::vector<std::vector<uint8_t>> evaluate_graph(const graph::Graph& graph,
                                                 const std::vector<std::vector<uint8_t>>& inputs, StateValues* states) {
  Evaluation evaluation;
  evaluation.states = states;
  return evaluate(graph, inputs, evaluation, 0);
}

std::vector<std::vector<uint8_t>> evaluate_graph(const graph::Graph& graph,
                                                 const std::vector<std::vector<uint8_t>>& inputs,
                                                 Evaluation& evaluation) {
  return evaluate(graph, inputs, evaluation, 0);
}

}  // namespace aotc::ops
