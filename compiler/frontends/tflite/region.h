// SPDX-License-Identifier: Apache-2.0
// Reads subgraphs that operators of another subgraph run (IF, WHILE, composites) as regions of the graph. TFLite passes
// tensors by position and variables by handles; a region has variables as additional arguments and results after those
// of the file.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "frontends/tflite/source.h"
#include "frontends/tflite/variables.h"
#include "graph/graph.h"
#include "ops/operator.h"

namespace aotc::frontends {

inline bool is_resource(const tflite_schema::SubGraph& subgraph, int32_t tensor) {
  return tensor >= 0 && static_cast<size_t>(tensor) < length(subgraph.tensors()) &&
         subgraph.tensors()->Get(static_cast<uint32_t>(tensor))->type() == tflite_schema::TensorType_RESOURCE;
}

// The variables that a subgraph, with the subgraphs that it runs, reads and assigns.
struct VariableUse {
  std::set<Variables::Key> used, assigned;
  int64_t operators_left = 1 << 20;  // limit on operators to visit: subgraphs may be entered from many places
};

// The subgraphs that an operator runs: then and else of IF, condition and body of WHILE, the body of a
// STABLEHLO_COMPOSITE; empty for other operators.
std::vector<int> subgraphs_of(const tflite_schema::Operator& op);

// The subgraph to read and its arguments.
struct RegionRequest {
  int subgraph = 0;
  std::vector<graph::TensorType> arguments;                   // types of its inputs that are not handles
  std::vector<std::optional<graph::ConstantView>> constants;  // values of arguments that are constant; or empty
  std::map<int32_t, Variables::Key> handles;                  // by tensor of the subgraph: inputs that are handles
  std::vector<Variables::Key> inputs, outputs;                // variables that are additional arguments and results
};

// Reads the subgraph into a graph whose inputs and outputs are those of the file that are not handles, then the
// variables. False: the error is in the source's diagnostics.
bool read_region(Source& outer, const ops::OperatorSet& set, const RegionRequest& request, graph::Graph& graph);

// Adds the variables that subgraph `index` uses. `handles`: its inputs that are known handles.
void find_variables(const Source& source, int index, std::map<int32_t, Variables::Key> handles, int depth,
                    VariableUse& use);

}  // namespace aotc::frontends
