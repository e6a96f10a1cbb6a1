// SPDX-License-Identifier: Apache-2.0
// Models that are graphs of functions given in C: TVM's GRAPH.json with parameters and operator
// sources, or a Model Library Format archive of the graph executor that holds all of them. The one
// thing to know: what comes back calls only functions that the sources define with the right
// parameters, if there are sources; without, every function is taken to be packed.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "driver/compilation.h"
#include "driver/operator_sources.h"
#include "frontends/graph_json/reader.h"
#include "ops/external/given.h"
#include "support/diagnostics.h"

namespace aotc::driver {

// A model of one of the frontends, or one of these with functions in C.
enum class ModelKind { kModel, kGraphJson, kArchive };

// By content, and where that says nothing by the path's extension.
ModelKind kind_of(const std::string& path, std::span<const uint8_t> bytes);

struct GraphModel {
  graph::Graph graph;
  graph_json::GraphJsonInfo info;
  GivenOperators operators;  // their files are sources, and headers beside them that they include
};

// Uses of `options`: model_path, params_path, operators, include_dirs, operator_workspace,
// devices_text. Reports what the readers of
// graphs, parameters, archives and operator sources do, and [graph-none] for archives without
// graph.
Result<GraphModel> load_graph_model(ModelKind kind, const std::vector<uint8_t>& bytes,
                                    const CompileOptions& options, Diagnostics& diags);

// Custom operators of a .tflite model that are given as C.
struct GivenModelOperators {
  ops::GivenOperators operators;  // for the reader
  OperatorSources functions;
  std::map<std::string, std::string> files;  // sources, headers beside them, descriptions
};

// Reads what `options.operators` names. Reports [operator-description], [operator-header] and what
// read_operator_sources does.
Result<GivenModelOperators> load_given_operators(const CompileOptions& options, Diagnostics& diags);
// Checks the functions that a graph calls, and how they are called. Reports what check_operator does.
Status bind_given_operators(graph::Graph& graph, const GivenModelOperators& given, Diagnostics& diags);

// The graph of an archive as it is: without operators' sources, which take Clang to read, and devices.
// Uses of `options`: model_path, params_path.
Result<GraphModel> read_archived_graph(const std::vector<uint8_t>& bytes,
                                       const CompileOptions& options, Diagnostics& diags);

}  // namespace aotc::driver
