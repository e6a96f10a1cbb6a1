// SPDX-License-Identifier: Apache-2.0
// Reads a subgraph that an operator of another subgraph runs (IF, WHILE, a composite) into a region: a graph inside an
// operator. TFLite passes tensors to a subgraph by position, and variables by handles. A region instead has additional
// arguments and results for the variables.
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

// The variables of a subgraph and of the subgraphs that it runs. `used`: read or assigned.
struct VariableUse {
  std::set<Variables::Key> used, assigned;
  int64_t operators_left = 1 << 20;  // limit, because many operators may run one subgraph
};

// Indices of the subgraphs that an operator runs: then and else of IF, condition and body of WHILE, the body of a
// STABLEHLO_COMPOSITE. Empty for other operators.
std::vector<int> subgraphs_of(const tflite_schema::Operator& op);

// The subgraph to read and its arguments.
struct RegionRequest {
  int subgraph = 0;
  std::vector<graph::TensorType> arguments;                   // types of the inputs that are not handles
  std::vector<std::optional<graph::ConstantView>> constants;  // value of each constant argument; or empty
  std::map<int32_t, Variables::Key> handles;                  // variable by tensor index, for inputs that are handles
  std::vector<Variables::Key> inputs, outputs;                // variables that are additional arguments and results
};

// Reads the subgraph into a graph. Its inputs and outputs are those of the subgraph without handles, followed by the
// variables. False: the error is in the source's diagnostics.
bool read_region(Source& outer, const ops::OperatorSet& set, const RegionRequest& request, graph::Graph& graph);

// Adds the variables that subgraph `index` uses to `use`. `handles`: the variable of each input that is a handle.
void find_variables(const Source& source, int index, std::map<int32_t, Variables::Key> handles, int depth,
                    VariableUse& use);

}  // namespace aotc::frontends
