// SPDX-License-Identifier: Apache-2.0
#include "frontends/tflite/variables.h"

#include <algorithm>

#include <fmt/format.h>

#include "frontends/tflite/builtin_names.h"
#include "frontends/tflite/tensors.h"

namespace aotc::frontends {

namespace {

namespace schema = tflite_schema;

// The file's view of a subgraph that runs once, with tensors of its own.
struct Once {
  Source source;
  graph::Graph graph;
  std::vector<graph::TensorId> ids;

  // What it assigns: the variable, and the tensor of the file.
  std::vector<std::pair<Variables::Key, int32_t>> assigned;

  const schema::Operator& op(uint32_t i) const { return *source.subgraph->operators()->Get(i); }

  // Fills `assigned`, and marks what is. False: told; or `missing` says what it does beside.
  bool find_assignments(const Location& at, std::vector<Role>& roles, Diagnostics& told, std::string& missing);
};

bool Once::find_assignments(const Location& at, std::vector<Role>& roles, Diagnostics& told, std::string& missing) {
  const int index = source.subgraph_index;
  std::map<int32_t, Variables::Key> handles;
  for (uint32_t i = 0; i < length(source.subgraph->operators()); ++i) {
    const int builtin = source.builtin_of(op(i));
    if (builtin == kTfliteVarHandle) {
      handles.insert_or_assign(index_at(op(i).outputs(), 0), variable_key(op(i)));
    } else if (builtin == kTfliteAssignVariable) {
      auto handle = handles.find(index_at(op(i).inputs(), 0));
      const int32_t value = index_at(op(i).inputs(), 1);
      if (handle == handles.end() || value < 0 || static_cast<size_t>(value) >= roles.size())
        return damaged(told, at,
                       fmt::format("operator {} of subgraph {} has no variable or no value to assign", i, index));
      roles[static_cast<size_t>(value)].operand = true;
      assigned.emplace_back(handle->second, value);
    } else {
      missing = fmt::format("runs subgraph {}, but its operator {} does more than assign constants", index,
                            tflite_builtin_name(builtin));
      return false;
    }
  }
  return true;
}

}  // namespace

Variables::Key variable_key(const schema::Operator& op) {
  const auto* options = op.builtin_options_as<schema::VarHandleOptions>();
  if (options == nullptr) return {};
  return {text_of(options->container(), 4096), text_of(options->shared_name(), 4096)};
}

bool is_variable_operator(int builtin) {
  return builtin == kTfliteCallOnce || builtin == kTfliteVarHandle || builtin == kTfliteReadVariable ||
         builtin == kTfliteAssignVariable;
}

bool Variables::open(const schema::Operator& op, const Location& at, Diagnostics& told) {
  int32_t result = index_at(op.outputs(), 0);
  if (result < 0) return damaged(told, at, "the operator has no results");
  Key key = variable_key(op);
  if (!source_.copies.take(key.first.size() + key.second.size() + sizeof(Variable))) {
    report_aliasing(told, at);
    return false;
  }
  variables_.try_emplace(key, Variable{key.second, {}, {}, {}});
  handles_.insert_or_assign(result, std::move(key));
  return true;
}

bool Variables::initialise(const schema::Operator& op, const Location& at, Diagnostics& told, std::string& missing) {
  const auto* options = op.builtin_options_as<schema::CallOnceOptions>();
  int index = options == nullptr ? -1 : options->init_subgraph_index();
  const auto* subgraphs = source_.model->subgraphs();
  if (source_.depth > 0) {
    missing = "initialises variables in a nested subgraph";
    return true;
  }
  if (index < 0 || static_cast<size_t>(index) >= length(subgraphs) || index == source_.subgraph_index)
    return damaged(
        told, at,
        fmt::format("the operator cannot run subgraph {}: the file has {} subgraphs, numbered from 0, and no subgraph "
                    "can run itself",
                    index, length(subgraphs)));
  Once once{source_, {}, {}, {}};
  once.source.subgraph = subgraphs->Get(static_cast<uint32_t>(index));
  once.source.subgraph_index = index;
  once.source.diags = &told;
  once.source.shapes.clear();
  const size_t tensors = length(once.source.subgraph->tensors());
  const size_t operators = length(once.source.subgraph->operators());
  if (tensors > limits::kMaxTensors || operators > limits::kMaxOperators)
    return damaged(told, at, fmt::format("subgraph {} has more tensors or operators than aotc allows", index));
  std::vector<Role> roles(tensors);
  if (!once.find_assignments(at, roles, told, missing)) return !missing.empty();
  bool good = read_tensors(once.source, roles, once.graph, once.ids).ok();
  source_.copies = once.source.copies;
  source_.constants = once.source.constants;
  if (!good) return false;
  for (const auto& [key, value] : once.assigned) {
    const graph::Tensor& tensor = once.graph[once.ids[static_cast<size_t>(value)]];
    if (!tensor.constant) {
      missing = fmt::format("initialises variable '{}' with a computed value", escape_for_display(key.second));
      return true;
    }
    Variable& variable = variables_.try_emplace(key, Variable{key.second, {}, {}, {}}).first->second;
    if (variable.now.valid()) {
      missing = fmt::format("initialises variable '{}' after it is read or assigned", escape_for_display(key.second));
      return true;
    }
    variable.initial = tensor;
  }
  return true;
}

const Variables::Key* Variables::key_of(const schema::Operator& op, const Location& at, Diagnostics& told) const {
  auto handle = handles_.find(index_at(op.inputs(), 0));
  if (handle != handles_.end()) return &handle->second;
  told.error(at, "tflite-variable", "the variable of the operator is known only when the model runs")
      .help("export the model so that its variables are attributes of one tf.Module and are used by name");
  return nullptr;
}

bool Variables::same_type(const graph::TensorType& of, const graph::TensorType& wanted, const char* what,
                          const Location& at, Diagnostics& told) const {
  if (of == wanted) return true;
  told.error(at, "tflite-variable",
             fmt::format("the value {} is {}, but the variable is {}", what, graph::to_string(of),
                         graph::to_string(wanted)))
      .help("create the variable with the type and shape of its values");
  return false;
}

std::optional<graph::TensorId> Variables::read(const schema::Operator& op, const Location& at, graph::Graph& graph,
                                               Diagnostics& told) {
  const Key* key = key_of(op, at, told);
  if (key == nullptr) return std::nullopt;
  return value(*key, at, graph, told);
}

void Variables::set_value(const Key& key, graph::TensorId value) {
  variables_.try_emplace(key, Variable{key.second, {}, {}, {}}).first->second.now = value;
}

std::optional<graph::TensorId> Variables::value(const Key& key, const Location& at, graph::Graph& graph,
                                                Diagnostics& told) {
  Variable& variable = variables_.try_emplace(key, Variable{key.second, {}, {}, {}}).first->second;
  if (variable.now.valid()) return variable.now;
  if (!variable.initial) {
    told.error(at, "tflite-variable",
               fmt::format("variable '{}' is read before it has a value", escape_for_display(variable.name)))
        .help(
            "export the model together with its variables; the converter then writes an initial value for this "
            "variable");
    return std::nullopt;
  }
  graph::Tensor tensor = *variable.initial;
  tensor.constant.reset();
  tensor.name = variable.name.empty() ? tensor.name : variable.name;
  variable.before = variable.now = graph.add_tensor(std::move(tensor));
  return variable.now;
}

bool Variables::assign(const schema::Operator& op, graph::TensorId value, const Location& at, graph::Graph& graph,
                       Diagnostics& told) {
  const Key* key = key_of(op, at, told);
  if (key == nullptr) return false;
  Variable& variable = variables_.try_emplace(*key, Variable{key->second, {}, {}, {}}).first->second;
  const graph::TensorType* type = variable.now.valid() ? &graph[variable.now].type
                                  : variable.initial   ? &variable.initial->type
                                                       : nullptr;
  if (type != nullptr && !same_type(graph[value].type, *type, "assigned", at, told)) return false;
  variable.now = value;
  return true;
}

namespace {

// Apart from the variables that have names: no text of a file begins like this.
Variables::Key key_of_tensor(int32_t tensor) { return {std::string("\0variable tensor", 16), std::to_string(tensor)}; }

// Real 0 in every element.
graph::ConstantView zeros(const graph::TensorType& type) {
  std::vector<uint8_t> bytes(static_cast<size_t>(type.bytes()));
  if (type.dtype == DType::kI8 && type.quantization.zero_point.size() == 1)
    std::fill(bytes.begin(), bytes.end(), static_cast<uint8_t>(type.zero_point()));
  return graph::own_bytes(std::move(bytes));
}

}  // namespace

graph::TensorId Variables::tensor_value(int32_t tensor, graph::TensorId id, const graph::Graph& graph) {
  auto [entry, is_new] = variables_.try_emplace(key_of_tensor(tensor), Variable{graph[id].name, {}, id, id});
  if (is_new) {
    entry->second.initial = graph[id];
    entry->second.initial->constant = zeros(graph[id].type);
  }
  return entry->second.now;
}

void Variables::set_tensor_value(int32_t tensor, graph::TensorId value) {
  variables_.at(key_of_tensor(tensor)).now = value;
}

graph::TensorId Variables::change_tensor(int32_t tensor, graph::Graph& graph) {
  graph::Tensor next = graph[variables_.at(key_of_tensor(tensor)).before];
  next.name += "_next";
  return graph.add_tensor(std::move(next));
}

void Variables::finish(graph::Graph& graph) {
  for (auto& [key, variable] : variables_) {
    if (!variable.before.valid()) continue;  // never read before it is assigned: nothing is kept
    if (variable.now == variable.before) graph[variable.before].constant = variable.initial->constant;
    else graph.states.push_back({variable.before, variable.now, *variable.initial->constant});
  }
}

}  // namespace aotc::frontends
