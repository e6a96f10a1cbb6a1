// SPDX-License-Identifier: Apache-2.0
// Variables of a TFLite model (VAR_HANDLE, READ_VARIABLE, ASSIGN_VARIABLE, and the CALL_ONCE that gives
// them their first value) as states of the graph. The one thing to know: nothing of them stays in the
// graph. A read is the value that was assigned last, or the state's value at the start of the run; what
// was assigned last is the state's next value.
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

// The operators that are read here and have no definition of their own.
bool is_variable_operator(int builtin);

class Variables {
 public:
  explicit Variables(Source& source) : source_(source) {}

  // VAR_HANDLE: the file's tensor `result` stands for the variable that the options name.
  bool open(const tflite_schema::Operator& op, const Location& at, Diagnostics& told);
  // CALL_ONCE: the other subgraph's constants are what variables begin with. `missing`: what it does
  // that is not supported.
  bool initialise(const tflite_schema::Operator& op, const Location& at, Diagnostics& told,
                  std::string& missing);
  // READ_VARIABLE: the value there is now, as a tensor of `graph`; told, if there is none.
  std::optional<graph::TensorId> read(const tflite_schema::Operator& op, const Location& at,
                                      graph::Graph& graph, Diagnostics& told);
  // ASSIGN_VARIABLE of a tensor of `graph`.
  bool assign(const tflite_schema::Operator& op, graph::TensorId value, const Location& at,
              graph::Graph& graph, Diagnostics& told);
  // When all operators are read: states of what was assigned, constants of what never was.
  void finish(graph::Graph& graph);

 private:
  using Key = std::pair<std::string, std::string>;  // container and name
  struct Variable {
    std::string name;
    std::optional<graph::Tensor> initial;
    graph::TensorId before, now;
  };

  const Key* key_of(const tflite_schema::Operator& op, const Location& at, Diagnostics& told) const;
  bool same_type(const graph::TensorType& of, const graph::TensorType& wanted, const char* what,
                 const Location& at, Diagnostics& told) const;

  Source& source_;
  std::map<int32_t, Key> handles_;  // by tensor of the file
  std::map<Key, Variable> variables_;
};

}  // namespace aotc::frontends
