// SPDX-License-Identifier: Apache-2.0
#include "mlf/full_model.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <ctime>
#include <set>
#include <tuple>

#include "codegen/c_run.h"
#include "codegen/workspace.h"
#include "mlf/archive.h"
#include "support/json.h"
#include "support/text.h"
#include "support/tvm_params.h"

namespace aotc::mlf {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kTvmPrefix = "tvmgen_";

// The name as JSON can hold it: bytes that are no UTF-8 become U+FFFD.
std::string utf8(const std::string& name) {
  Json repaired;
  (void)parse_json(json_text(Json(name)), repaired);
  return repaired.get<std::string>();
}

// name -> {"size", "dtype"} of every port; ports of one name are told apart.
Json ports(const graph::Graph& graph, const std::vector<graph::Port>& list) {
  Json out = Json::object();
  UniqueNames names;
  for (const graph::Port& port : list) {
    const graph::TensorType& type = graph[port.tensor].type;
    out[names.make(utf8(port.name))] = {{"dtype", dtype_text(type.dtype)}, {"size", type.bytes()}};
  }
  return out;
}

int64_t bytes_of(const graph::Graph& graph, const std::vector<graph::Port>& list) {
  int64_t sum = 0;
  for (const graph::Port& port : list) sum += graph[port.tensor].type.bytes();
  return sum;
}

// One entry for each type of device; what the model needs is all memory of the host's.
Json main_memory(const FullModel& model) {
  const plan::Program& p = *model.program;
  int64_t constants = 0;
  for (const plan::ProgramConstant& c : p.constants) constants += static_cast<int64_t>(c.data.bytes.size());
  bool planned = model.memory == codegen::MemoryMode::kStatic;
  Json out = Json::array();
  std::set<int> seen;
  for (const passes::Device& device : p.devices) {
    if (!seen.insert(device.type).second) continue;
    bool host = out.empty();
    Json main;
    main["device"] = device.type;
    main["workspace_size_bytes"] = !host ? 0 : planned ? p.arena_bytes : codegen::workspace_bytes(p);
    main["constants_size_bytes"] = host ? constants : 0;
    main["io_size_bytes"] = host ? bytes_of(p.graph, p.graph.inputs) + bytes_of(p.graph, p.graph.outputs) : 0;
    // Ours: TVM has no state.
    if (host && p.state_bytes > 0) main["state_size_bytes"] = p.state_bytes;
    main["inputs"] = host ? ports(p.graph, p.graph.inputs) : Json::object();
    main["outputs"] = host ? ports(p.graph, p.graph.outputs) : Json::object();
    out.push_back(std::move(main));
  }
  return out;
}

// Scratch of each function; it lies in the workspace of main and is counted there too.
Json operator_functions(const FullModel& model) {
  const plan::Program& p = *model.program;
  Json out = Json::array();
  std::set<std::string> seen;  // functions of the user's may serve several shapes
  for (size_t f = 0; f < p.functions.size(); ++f) {
    const plan::ProgramFunction& function = p.functions[f];
    if (!codegen::is_called(p, function)) continue;  // hooks do it
    if (!seen.insert(model.c->function_names[f]).second) continue;
    int64_t scratch = 0;
    for (int call : function.calls) scratch = std::max(scratch, p.calls[static_cast<size_t>(call)].scratch_bytes);
    int type = p.device_of(function.device).type;
    out.push_back({{"function_name", model.c->function_names[f]},
                   {"workspace", {{{"device", type}, {"workspace_size_bytes", scratch}}}}});
  }
  return out;
}

// Sources in the order of their numbers: TVM's entry point, operators and run function, tables, then
// the user's operators by name.
std::vector<std::string> sources_of(const FullModel& model) {
  std::vector<std::string> out;
  for (const auto& [name, text] : model.c->files)
    if (name.ends_with(".c")) out.push_back(name);
  auto rank = [&](const std::string& name) {
    if (name.starts_with(kTvmPrefix)) return 0;
    return name == model.prefix + ".c" ? 1 : name == model.prefix + "_data.c" ? 2 : 3;
  };
  std::stable_sort(out.begin(), out.end(), [&](const std::string& a, const std::string& b) {
    return std::make_tuple(rank(a), a) < std::make_tuple(rank(b), b);
  });
  return out;
}

// Keys in order of name, as archives of full models have them.
nlohmann::json sorted(const Json& value) {
  nlohmann::json out;
  (void)parse_json(json_text(value), out);
  return out;
}

}  // namespace

std::string module_name(const FullModel& model) {
  for (const auto& [name, text] : model.c->files)
    if (name.starts_with(kTvmPrefix) && name.ends_with(".h"))
      return name.substr(kTvmPrefix.size(), name.size() - kTvmPrefix.size() - 2);
  return model.prefix;
}

std::string dtype_text(DType dtype) { return tvm::DataType::of(dtype).str(); }

std::string date_text(int64_t seconds) {
  std::time_t time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  gmtime_r(&time, &parts);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

Json module_metadata(const FullModel& model) {
  Json m;
  m["model_name"] = module_name(model);
  m["export_datetime"] = date_text(model.date);
  m["style"] = kFullModel;
  m["executors"] = {"aot"};
  m["target"] = model.targets;
  m["external_dependencies"] = {{{"short_name", "tvm_standalone_crt"},
                                 {"url", "./runtime"},
                                 {"url_type", "mlf_path"},
                                 {"version_spec", model.runtime_version}}};
  m["memory"]["functions"]["main"] = main_memory(model);
  m["memory"]["functions"]["operator_functions"] = operator_functions(model);
  return m;
}

std::map<std::string, std::string> full_model_files(const FullModel& model) {
  std::map<std::string, std::string> out;
  std::string name = module_name(model);
  int number = 0;
  for (const std::string& source : sources_of(model))
    out[fmt::format("codegen/host/src/{}_lib{}.c", name, number++)] = model.c->files.at(source);
  for (const auto& [file, text] : model.c->files)
    if (file.ends_with(".h")) out["codegen/host/include/" + file.substr(file.rfind('/') + 1)] = text;
  // Constants are linked into the code; the list of parameters to be given at run time is empty.
  std::vector<uint8_t> params = tvm::write_params({});
  out[fmt::format("parameters/{}.params", name)].assign(params.begin(), params.end());
  out[fmt::format("src/{}.relay", name)] = model.graph_text;
  for (const auto& [path, text] : model.runtime) out["runtime/" + path] = text;
  for (const auto& [file, text] : model.templates) out["templates/" + file] = text;
  Json metadata;
  metadata["version"] = kVersion;
  metadata["modules"][name] = module_metadata(model);
  // As Python's json does it: ASCII only.
  out[kMetadata] = json_text(sorted(metadata), 2, JsonCharacters::kAscii);
  return out;
}

}  // namespace aotc::mlf
