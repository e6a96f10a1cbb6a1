// SPDX-License-Identifier: Apache-2.0
#include "graph/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace aotc::graph {

int64_t element_count(const Shape& shape) {
  int64_t count = 1;
  for (int64_t dim : shape) count *= dim;
  return count;
}

std::string to_string(const Shape& shape) {
  return shape.empty() ? "scalar" : fmt::format("{}", fmt::join(shape, "x"));
}

ConstantView own_bytes(std::vector<uint8_t> bytes) {
  auto owner = std::make_shared<const std::vector<uint8_t>>(std::move(bytes));
  std::span<const uint8_t> view(owner->data(), owner->size());
  return {std::move(owner), view};
}

TensorId Graph::add_tensor(Tensor tensor) {
  tensors.push_back(std::move(tensor));
  return {static_cast<int32_t>(tensors.size() - 1)};
}

TensorId Graph::add_constant(std::string constant_name, TensorType type, std::vector<uint8_t> bytes) {
  Tensor tensor;
  tensor.name = std::move(constant_name);
  tensor.type = std::move(type);
  tensor.constant = own_bytes(std::move(bytes));
  return add_tensor(std::move(tensor));
}

TensorId constant_as_list(Graph& graph, TensorId constant) {
  const Tensor from = graph[constant];  // adding one moves them
  if (from.type.shape.size() == 1) return constant;
  TensorType type = from.type;
  type.shape = {type.elements()};
  return graph.add_constant(from.name, type, {from.constant->bytes.begin(), from.constant->bytes.end()});
}

bool has_regions(const Graph& graph) {
  return std::any_of(graph.ops.begin(), graph.ops.end(), [](const Op& op) { return !op.regions.empty(); });
}

void remove_ops(Graph& graph, const std::vector<bool>& dead) {
  size_t kept = 0;
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    if (dead[i]) continue;
    if (kept != i) graph.ops[kept] = std::move(graph.ops[i]);
    ++kept;
  }
  graph.ops.resize(kept);
}

Location Graph::location_of(TensorId id) const {
  Location where;
  where.file = source_file;
  if (id.valid() && static_cast<size_t>(id.value) < tensors.size()) where.tensor = (*this)[id].name;
  return where;
}

bool Graph::is_input(TensorId id) const {
  return std::any_of(inputs.begin(), inputs.end(), [&](const Port& p) { return p.tensor == id; });
}

bool Graph::is_output(TensorId id) const {
  return std::any_of(outputs.begin(), outputs.end(), [&](const Port& p) { return p.tensor == id; });
}

bool Graph::is_state(TensorId id) const {
  return std::any_of(states.begin(), states.end(), [&](const State& s) { return s.before == id; });
}

bool Graph::is_next_state(TensorId id) const {
  return std::any_of(states.begin(), states.end(), [&](const State& s) { return s.after == id; });
}

int64_t Graph::state_bytes() const {
  int64_t bytes = 0;
  for (const State& s : states) bytes += (*this)[s.before].type.bytes();
  return bytes;
}

void pair_state(Graph& graph, size_t output, size_t input, std::vector<uint8_t> initial) {
  State state{graph.inputs[input].tensor, graph.outputs[output].tensor, {}};
  const TensorType& type = graph[state.before].type;
  if (initial.empty()) {
    auto step = static_cast<size_t>(size_of(type.dtype));
    initial.assign(static_cast<size_t>(type.bytes()), 0);
    int64_t zero = type.zero_point();
    for (size_t i = 0; is_int(type.dtype) && i + step <= initial.size(); i += step)
      std::memcpy(&initial[i], &zero, step);
  }
  state.initial = own_bytes(std::move(initial));
  graph.inputs.erase(graph.inputs.begin() + static_cast<std::ptrdiff_t>(input));
  graph.outputs.erase(graph.outputs.begin() + static_cast<std::ptrdiff_t>(output));
  graph.states.push_back(std::move(state));
}

UseDef compute_use_def(const Graph& graph) {
  UseDef out;
  out.definer.assign(graph.tensors.size(), -1);
  out.users.resize(graph.tensors.size());
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    int index = static_cast<int>(i);
    for (TensorId id : graph.ops[i].operands) {
      if (!id.valid()) continue;
      std::vector<int>& users = out.users[static_cast<size_t>(id.value)];
      if (users.empty() || users.back() != index) users.push_back(index);
    }
    for (TensorId id : graph.ops[i].results) out.definer[static_cast<size_t>(id.value)] = index;
  }
  return out;
}

size_t count_ops(const Graph& graph) {
  size_t count = graph.ops.size();
  for (const Op& op : graph.ops)
    for (const Graph& region : op.regions) count += count_ops(region);
  return count;
}

void compact(Graph& graph) {
  for (Op& op : graph.ops)
    for (Graph& region : op.regions) compact(region);
  std::vector<char> used(graph.tensors.size(), 0);
  auto mark = [&](TensorId id) {
    if (id.valid()) used[static_cast<size_t>(id.value)] = 1;
  };
  for (const Port& port : graph.inputs) mark(port.tensor);
  for (const Port& port : graph.outputs) mark(port.tensor);
  for (const State& state : graph.states) {
    mark(state.before);
    mark(state.after);
  }
  for (const Op& op : graph.ops) {
    for (TensorId id : op.operands) mark(id);
    for (TensorId id : op.results) mark(id);
  }
  std::vector<TensorId> renumbered(graph.tensors.size());
  std::vector<Tensor> kept;
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    if (!used[i]) continue;
    renumbered[i] = {static_cast<int32_t>(kept.size())};
    kept.push_back(std::move(graph.tensors[i]));
  }
  graph.tensors = std::move(kept);
  auto renumber = [&](TensorId& id) {
    if (id.valid()) id = renumbered[static_cast<size_t>(id.value)];
  };
  for (Port& port : graph.inputs) renumber(port.tensor);
  for (Port& port : graph.outputs) renumber(port.tensor);
  for (State& state : graph.states) {
    renumber(state.before);
    renumber(state.after);
  }
  for (Op& op : graph.ops) {
    for (TensorId& id : op.operands) renumber(id);
    for (TensorId& id : op.results) renumber(id);
  }
}

}  // namespace aotc::graph
