// SPDX-License-Identifier: Apache-2.0
// Variables: converts the variables of a TFLite model to states of the graph. A state is a value that persists between
// runs. The operators VAR_HANDLE, READ_VARIABLE, ASSIGN_VARIABLE and CALL_ONCE (which initialises variables) do not
// remain in the graph. A read becomes a use of the last value that was assigned in this run; if there is none, a use of
// the state's value at the start of the run. The last assigned value becomes the state's next value.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/tflite/source.h"
#include "graph/graph.h"
#include "support/diagnostics.h"

namespace aotc::frontends {

// True for operators that this file converts; aotc has no definition of them.
bool is_variable_operator(int builtin);

// Element `i` of a list; -1 if there is none.
inline int32_t index_at(const flatbuffers::Vector<int32_t>* list, uint32_t i) {
  return i < length(list) ? list->Get(i) : -1;
}

class Variables {
 public:
  using Key = std::pair<std::string, std::string>;  // container and name

  explicit Variables(Source& source) : source_(source) {}

  // VAR_HANDLE: the operator's result becomes a handle of the variable that its options name.
  bool open(const tflite_schema::Operator& op, const Location& at, Diagnostics& told);
  // CALL_ONCE: the constants that the called subgraph assigns become initial values. `missing` receives the reason if
  // aotc does not support this initialisation.
  bool initialise(const tflite_schema::Operator& op, const Location& at, Diagnostics& told, std::string& missing);
  // READ_VARIABLE: returns the present value, a tensor of `graph`; nullopt, after an error, if there is none.
  std::optional<graph::TensorId> read(const tflite_schema::Operator& op, const Location& at, graph::Graph& graph,
                                      Diagnostics& told);
  // ASSIGN_VARIABLE: `value`, a tensor of `graph`, becomes the present value.
  bool assign(const tflite_schema::Operator& op, graph::TensorId value, const Location& at, graph::Graph& graph,
              Diagnostics& told);
  // The variable that a handle refers to; null if the tensor is not a known handle.
  const Key* known(int32_t tensor) const {
    auto found = handles_.find(tensor);
    return found == handles_.end() ? nullptr : &found->second;
  }
  void set_handle(int32_t tensor, const Key& key) { handles_.insert_or_assign(tensor, key); }
  // The present value of a variable; adds a tensor for the initial value if necessary. nullopt, after an error, if the
  // variable has no value.
  std::optional<graph::TensorId> value(const Key& key, const Location& at, graph::Graph& graph, Diagnostics& told);
  void set_value(const Key& key, graph::TensorId value);
  void set_tensor_value(int32_t tensor, graph::TensorId value);

  // The present value of a variable tensor of the file, which is `id` in the graph. Before the first change, every
  // element represents the real value 0.
  graph::TensorId tensor_value(int32_t tensor, graph::TensorId id, const graph::Graph& graph);
  // Adds a tensor for the value that an operator assigns to the variable tensor.
  graph::TensorId change_tensor(int32_t tensor, graph::Graph& graph);

  // Call after all operators: variables that were assigned become states, others constants.
  void finish(graph::Graph& graph);

 private:
  struct Variable {
    std::string name;
    std::optional<graph::Tensor> initial;
    graph::TensorId before, now;
  };

  const Key* key_of(const tflite_schema::Operator& op, const Location& at, Diagnostics& told) const;
  bool same_type(const graph::TensorType& of, const graph::TensorType& wanted, const char* what, const Location& at,
                 Diagnostics& told) const;

  Source& source_;
  std::map<int32_t, Key> handles_;  // by tensor of the file
  std::map<Key, Variable> variables_;
};

// Returns the key (container and name) in VAR_HANDLE's options.
Variables::Key variable_key(const tflite_schema::Operator& op);

}  // namespace aotc::frontends
