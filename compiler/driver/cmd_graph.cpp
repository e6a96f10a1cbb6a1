// SPDX-License-Identifier: Apache-2.0
// graph: TVM's graph executor graphs: inspect, convert.
#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driver/commands.h"
#include "driver/graph_model.h"
#include "frontends/graph_json/writer.h"
#include "ops/external/external.h"
#include "ops/operator.h"
#include "support/files.h"
#include "support/json.h"
#include "support/streams.h"

namespace aotc::driver {

namespace {

using Json = nlohmann::ordered_json;

struct GraphOptions {
  std::string graph, params, out;
  bool json = false, text = false;
};

struct Read {
  graph::Graph graph;
  graph_json::GraphJsonInfo info;
};

Result<Read> read(const GraphOptions& options, Diagnostics& diags) {
  auto bytes = read_file(options.graph, diags);
  if (!bytes) return kFailure;
  if (kind_of(options.graph, *bytes) == ModelKind::kArchive) {
    CompileOptions from;
    from.model_path = options.graph;
    from.params_path = options.params;
    auto model = read_archived_graph(*bytes, from, diags);
    if (!model || !ops::verify_graph(model->graph, diags)) return kFailure;
    return Read{std::move(model->graph), std::move(model->info)};
  }
  std::vector<tvm::Param> params;
  if (!options.params.empty()) {
    auto file = read_file(options.params, diags);
    auto parsed = file ? tvm::read_params(*file, options.params, diags) : Result<std::vector<tvm::Param>>(kFailure);
    if (!parsed) return kFailure;
    params = std::move(*parsed);
  }
  Read out;
  auto graph =
      graph_json::read_graph_json({bytes->begin(), bytes->end()}, options.graph, std::move(params), &out.info, diags);
  if (!graph || !ops::verify_graph(*graph, diags)) return kFailure;
  out.graph = std::move(*graph);
  return out;
}

const char* role(const graph_json::GraphJsonInfo::EntryInfo& entry) {
  return entry.is_param ? "parameter" : entry.is_input ? "input" : "computed";
}

Json shape_json(const graph::TensorType& type) { return Json(type.shape); }

Json describe(const Read& r) {
  Json j;
  j["graph"] = r.graph.name;
  j["nodes"] = r.info.document.nodes.size();
  Json functions = Json::object();
  std::map<std::string, int> calls;
  for (const graph::Op& op : r.graph.ops)
    if (ops::definition_of(op).traits().external) ++calls[op.attrs<ops::ExternalAttrs>().symbol];
  for (const auto& [symbol, count] : calls) functions[symbol] = count;
  j["operators"] = r.graph.ops.size();
  j["functions"] = std::move(functions);
  j["devices"] = r.info.device_numbers;
  j["entries"] = Json::array();
  int64_t params = 0;
  for (const auto& entry : r.info.entries) {
    const graph::Tensor& tensor = r.graph[entry.tensor];
    if (entry.is_param) params += tensor.type.bytes();
    Json e = {{"node", entry.node},
              {"index", entry.index},
              {"name", tensor.name},
              {"role", role(entry)},
              {"dtype", tvm::DataType::of(tensor.type.dtype).str()},
              {"shape", shape_json(tensor.type)},
              {"bytes", tensor.type.bytes()}};
    e["storage_id"] = entry.storage_id ? Json(*entry.storage_id) : Json();
    e["device"] = r.info.device_numbers[static_cast<size_t>(tensor.device)];
    j["entries"].push_back(std::move(e));
  }
  for (const char* which : {"inputs", "outputs"}) {
    j[which] = Json::array();
    for (const graph::Port& port : which[0] == 'i' ? r.graph.inputs : r.graph.outputs) j[which].push_back(port.name);
  }
  j["parameter_bytes"] = params;
  j["storage_bytes"] = r.info.storage_bytes(r.graph);
  j["live_bytes"] = graph_json::live_bytes(r.graph);
  return j;
}

void print_text(const Read& r) {
  print_out("{}", graph::print(r.graph, {.constants_limit = 16, .locations = false}));
  std::vector<std::vector<std::string>> rows = {{"node", "name", "role", "type", "bytes", "storage", "device"}};
  for (const auto& entry : r.info.entries) {
    const graph::Tensor& tensor = r.graph[entry.tensor];
    rows.push_back({std::to_string(entry.node), escape_for_display(tensor.name, 60), role(entry),
                    graph::to_string(tensor.type), with_commas(tensor.type.bytes()),
                    entry.storage_id ? std::to_string(*entry.storage_id) : "-",
                    std::to_string(r.info.device_numbers[static_cast<size_t>(tensor.device)])});
  }
  print_out("{}", format_table(rows));
  print_out("storage without parameters: {}\npeak of live tensors: {}\n", exact_bytes(r.info.storage_bytes(r.graph)),
            exact_bytes(graph_json::live_bytes(r.graph)));
}

int inspect(const GraphOptions& options) {
  Diagnostics diags;
  auto r = read(options, diags);
  if (!r) return fail(diags);
  if (options.json) print_out("{}\n", json_text(describe(*r), 1));
  else print_text(*r);
  print_diagnostics(diags);
  return kExitDone;
}

int convert(const GraphOptions& options) {
  Diagnostics diags;
  auto r = read(options, diags);
  if (!r) return fail(diags);
  std::string out;
  if (options.text) {
    out = graph::print(r->graph);
  } else {
    auto document = graph_json::write_graph_json(r->graph, &r->info, diags);
    if (!document) return fail(diags);
    out = graph_json::print_document(*document);
  }
  if (options.out.empty()) {
    print_out("{}", out);
  } else if (!write_file(options.out, out, diags)) {
    return fail(diags);
  }
  print_diagnostics(diags);
  return kExitDone;
}

// What inspect and convert read.
std::vector<options::Option> graph_options(GraphOptions& o) {
  return {{.names = "GRAPH",
           .target = &o.graph,
           .help = "A TVM graph (.json), or an archive (.tar) with a TVM graph",
           .required = true,
           .takes = options::Takes::kFile},
          {.names = "--params",
           .value = "FILE",
           .target = &o.params,
           .help = "Read the parameters of the graph from this file",
           .takes = options::Takes::kFile}};
}

}  // namespace

options::Command graph_declaration() {
  auto o = std::make_shared<GraphOptions>();
  options::Command inspector = {.name = "inspect",
                                .summary = "List the operators and tensors, with the memory that they use",
                                .options = graph_options(*o),
                                .run = [o] { return inspect(*o); }};
  inspector.options.push_back({.names = "--json", .target = &o->json, .help = "Print JSON on standard output"});
  options::Command converter = {
      .name = "convert",
      .summary = "Write the graph as TVM's JSON, or as text of the Graph IR, aotc's intermediate representation",
      .options = graph_options(*o),
      .run = [o] { return convert(*o); }};
  converter.options.push_back(
      {.names = "--text", .target = &o->text, .help = "Write text of the Graph IR, with all constants"});
  converter.options.push_back({.names = "-o,--output",
                               .value = "FILE",
                               .target = &o->out,
                               .help = "Write to this file (default: standard output)",
                               .takes = options::Takes::kFile});
  return {.name = "graph",
          .summary = "Inspect and convert TVM graphs",
          .commands = {std::move(inspector), std::move(converter)}};
}

}  // namespace aotc::driver
