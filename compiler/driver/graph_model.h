// SPDX-License-Identifier: Apache-2.0
// Loads models that are graphs of functions given in C: TVM's GRAPH.json with parameters and operator sources, or a
// Model Library Format archive of the graph executor that contains all of them. If the model has sources, they must
// define every called function with the right parameters. Without sources, aotc assumes that every function uses TVM's
// packed convention.
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

// kModel: a file for a frontend, such as .tflite. kGraphJson: TVM's GRAPH.json. kArchive: a Model Library Format
// archive.
enum class ModelKind { kModel, kGraphJson, kArchive };

// Determines the kind of a model from its content or, if that is unclear, from the extension of the path.
ModelKind kind_of(const std::string& path, std::span<const uint8_t> bytes);

struct GraphModel {
  graph::Graph graph;
  graph_json::GraphJsonInfo info;
  GivenOperators operators;  // its files are sources, and headers that they include
};

// Uses model_path, params_path, operators, include_dirs, operator_workspace and devices_text of `options`. Reports the
// errors of the readers of graphs, parameters, archives and operator sources, and [graph-none] for archives without a
// graph.
Result<GraphModel> load_graph_model(ModelKind kind, const std::vector<uint8_t>& bytes, const CompileOptions& options,
                                    Diagnostics& diags);

// Reads JSON descriptions of custom operators of a TFLite model (docs/custom-operators.md). A description accompanies C
// sources. It states C names, and types and shapes of results, which the model does not contain. The reader of the
// model checks that the C agrees with the description.
//
// The files of `--operators`: C sources, and descriptions (.json). A description beside a source with the same name is
// added automatically.
struct OperatorFiles {
  std::vector<std::string> sources, descriptions;
};
// Reports [operator-description] if there are sources but no description, or descriptions but no source.
Result<OperatorFiles> operator_files(const std::vector<std::string>& given, Diagnostics& diags);

// Adds the operators of one description. Reports [operator-description] with line and column.
Status read_description(const std::string& path, ops::GivenOperators& out, Diagnostics& diags);

// Custom operators of a .tflite model, given as C.
struct GivenModelOperators {
  ops::GivenOperators operators;  // their descriptions, for the model's reader
  OperatorSources functions;
  std::map<std::string, std::string> files;  // sources, headers beside them, descriptions
};

// Reads the files of `options.operators`. Reports [operator-description], [operator-header] and the errors of
// read_operator_sources.
Result<GivenModelOperators> load_given_operators(const CompileOptions& options, Diagnostics& diags);
// Checks the functions that a graph calls, and sets their calling conventions. Reports the errors of check_operator.
Status bind_given_operators(graph::Graph& graph, const GivenModelOperators& given, Diagnostics& diags);

// Reads the graph of an archive, but neither operator sources (which need Clang) nor devices. Uses model_path and
// params_path of `options`.
Result<GraphModel> read_archived_graph(const std::vector<uint8_t>& bytes, const CompileOptions& options,
                                       Diagnostics& diags);

}  // namespace aotc::driver
