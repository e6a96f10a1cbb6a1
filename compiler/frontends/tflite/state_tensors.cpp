// SPDX-License-Identifier: Apache-2.0
// Variable tensors of operators that keep a state (recurrent layers), and what operators keep without one, as
// states of the graph.
#include <algorithm>

#include "frontends/tflite/operators.h"

namespace aotc::frontends {

std::vector<int32_t> OperatorReader::state_tensors(size_t index) const {
  std::vector<int32_t> out;
  if (resolved_[index].rule == nullptr) return out;
  const auto* inputs = raw(index).inputs();
  for (size_t operand : resolved_[index].rule->states) {
    int32_t tensor = index_at(inputs, static_cast<uint32_t>(operand));
    if (tensor >= 0 && raw_tensor(tensor)->is_variable()) out.push_back(tensor);
  }
  return out;
}

bool OperatorReader::may_keep_state(const graph::Op& op, const char* help, Diagnostics& told) const {
  if (source_.depth == 0) return true;
  told.error(op.location, "tflite-variable",
             "the operator stores state, which is not supported inside a branch or a loop")
      .help(help);
  return false;
}

bool OperatorReader::every_run_comes_here(const graph::Graph& graph, const Location& at, Diagnostics& told) const {
  for (const graph::Op& op : graph.ops) {
    if (op.definition == nullptr || source_.rules->cycles(op).value_or(1) == 1) continue;
    told.error(at, "tflite-variable",
               "the operator stores state after an operator that ends some runs early ('" +
                   escape_for_display(op.location.tensor) + "')")
        .help("export the model with cycles_max = 1, or with this operator in a model of its own");
    return false;
  }
  return true;
}

bool OperatorReader::connect_states(size_t index, Build& build, graph::Op& op, Diagnostics& told) {
  const std::vector<int32_t> tensors = state_tensors(index);
  if (tensors.empty()) return true;
  if (!may_keep_state(op, "move the layer out of the branch or loop, or export its state as inputs and outputs",
                      told) ||
      !every_run_comes_here(build.graph, op.location, told))
    return false;
  const auto* inputs = raw(index).inputs();
  for (size_t operand : resolved_[index].rule->states) {
    int32_t tensor = index_at(inputs, static_cast<uint32_t>(operand));
    if (std::find(tensors.begin(), tensors.end(), tensor) == tensors.end()) continue;
    graph::TensorId id = build.ids[static_cast<size_t>(tensor)];
    if (!id.valid()) return false;
    op.operands[operand] = variables_.tensor_value(tensor, id, build.graph);
  }
  std::vector<graph::TensorId>& changed = build.changed[index];
  // An operator may be connected twice.
  for (size_t i = changed.size(); i < tensors.size(); ++i)
    changed.push_back(variables_.change_tensor(tensors[i], build.graph));
  build.mark_added();
  op.results.insert(op.results.end(), changed.begin(), changed.end());
  return true;
}

bool OperatorReader::connect_kept(size_t index, Build& build, graph::Op& op, Diagnostics& told) {
  const auto* stateful = resolved_[index].definition->as<ops::Stateful>();
  if (stateful == nullptr) return true;
  const auto all = stateful->states({build.graph, op}, told);
  if (!all) return false;
  const std::vector<ops::OperatorState>& kept = *all;
  if (kept.empty()) return true;
  if (!may_keep_state(op, "move the operator out of the branch or loop", told)) return false;
  const bool counts = source_.rules->cycles(op).has_value();
  if (!counts && !every_run_comes_here(build.graph, op.location, told)) return false;
  std::vector<graph::State>& states = build.kept[index];
  for (size_t i = 0; i < kept.size(); ++i) {
    const std::vector<uint8_t>& initial = kept[i].initial;
    graph::Tensor before;
    before.name = op.location.tensor + (kept[i].result ? "_before" : "_kept");
    before.type = kept[i].type;
    if (kept[i].result) before.type.quantization = build.graph[op.results[*kept[i].result]].type.quantization;
    if (i == states.size()) {  // an operator may be read twice
      graph::State state;
      state.initial =
          graph::own_bytes(initial.empty() ? std::vector<uint8_t>(static_cast<size_t>(before.type.bytes())) : initial);
      state.before = build.graph.add_tensor(before);
      if (kept[i].result) {
        state.after = op.results[*kept[i].result];
      } else {
        before.name += "_next";
        state.after = build.graph.add_tensor(before);
      }
      states.push_back(std::move(state));
    }
    op.operands.push_back(states[i].before);
    if (!kept[i].result) op.results.push_back(states[i].after);
  }
  build.mark_added();
  return true;
}

void OperatorReader::keep_states(size_t index, Build& build) {
  if (auto kept = build.kept.find(index); kept != build.kept.end())
    build.graph.states.insert(build.graph.states.end(), kept->second.begin(), kept->second.end());
  auto changed = build.changed.find(index);
  if (changed == build.changed.end()) return;
  const std::vector<int32_t> tensors = state_tensors(index);
  for (size_t i = 0; i < tensors.size(); ++i) variables_.set_tensor_value(tensors[i], changed->second[i]);
}

}  // namespace aotc::frontends
