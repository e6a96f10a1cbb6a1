// SPDX-License-Identifier: Apache-2.0
// Subgraphs that operators of another one run (IF, WHILE, composites), as regions of the graph. The one thing to know:
// TFLite hands a subgraph its tensors by position, and variables by handles that mean nothing in a graph;
// here variables are more arguments and results, behind those that the file has.
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
         subgraph.tensors()->Get(static_cast<uint32_t>(tensor))->type() ==
             tflite_schema::TensorType_RESOURCE;
}

// Which variables a subgraph, with those it runs, reads and assigns.
struct VariableUse {
  std::set<Variables::Key> used, assigned;
  int64_t operators_left = 1 << 20;  // to look at: subgraphs may be entered from many places
};

// The subgraphs that IF and WHILE run: then and else, or condition and body; what a STABLEHLO_COMPOSITE is
// made of; empty for other operators.
std::vector<int> subgraphs_of(const tflite_schema::Operator& op);

// What a region is read for.
struct RegionRequest {
  int subgraph = 0;
  std::vector<graph::TensorType> arguments;     // of its inputs that are no handles
  std::vector<std::optional<graph::ConstantView>> constants;  // of the arguments that are known; or empty
  std::map<int32_t, Variables::Key> handles;    // by tensor of the subgraph: inputs that are
  std::vector<Variables::Key> inputs, outputs;  // variables: more arguments and results
};

// Reads the subgraph into a graph whose inputs and outputs are those of the file that are no handles, then
// the variables. False: what is wrong is in the source's diagnostics.
bool read_region(Source& outer, const ops::OperatorSet& set, const RegionRequest& request,
                 graph::Graph& graph);

// Adds what subgraph `index` does with variables. `handles` are those of its inputs that are known.
void find_variables(const Source& source, int index, std::map<int32_t, Variables::Key> handles,
                    int depth, VariableUse& use);

}  // namespace aotc::frontends
