#include "driver/summary.h"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "ops/operator.h"
#include "support/files.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

// RAM a firmware needs for the model: arena, its inputs and outputs, and the board's stack.
int64_t ram_needed(const Compiled& c, const Figures& f) {
  int64_t tensors =
      c.options.memory == codegen::MemoryMode::kWorkspace ? f.workspace_bytes : f.arena_bytes;
  return tensors + c.operator_workspace_bytes + f.caller_bytes + (c.board ? c.board->stack_bytes : 0);
}

// Are more than half of the constants' bytes floats?
bool has_float_constants(const plan::Program& p) {
  int64_t floats = 0, all = 0;
  for (const plan::ProgramConstant& c : p.constants) {
    auto n = static_cast<int64_t>(c.data.bytes.size());
    all += n;
    if (c.data.dtype == DType::kF32) floats += n;
  }
  return floats * 2 > all;
}

// What the harness and start-up code of a project add to the model in flash, generously.
constexpr int64_t kFirmwareCode = 24 * 1024;

// The row of inputs and outputs that do not lie in the arena.
std::vector<std::string> caller_row(const plan::Program& p, const Figures& f) {
  bool in = p.input_contract == plan::Contract::kPreserve;
  bool out = p.output_contract == plan::Contract::kPreserve;
  std::vector<std::string> row = {in == out ? "RAM: inputs and outputs"
                                  : in      ? "RAM: inputs"
                                            : "RAM: outputs",
                                  format_bytes(f.caller_bytes)};
  if (!in || !out)
    row.push_back(fmt::format("{} in the arena", in ? "outputs" : out ? "inputs" : "both"));
  return row;
}

}  // namespace

bool check_fit(const Compiled& c, Diagnostics& diags) {
  if (!c.board || c.board->memories.empty()) return true;
  Figures f = figures_of(c);
  int64_t ram = c.board->memory_bytes("arena"), flash = c.board->memory_bytes("constants");
  int64_t need_ram = ram_needed(c, f), need_flash = f.constant_bytes + kFirmwareCode;
  Location where;
  where.file = c.options.model_path;
  bool fits = true, workspace = c.options.memory == codegen::MemoryMode::kWorkspace;
  if (ram > 0 && need_ram > ram) {
    diags
        .error(where, "does-not-fit",
               fmt::format("needs {} of RAM, board {} has {}", format_bytes(need_ram),
                           c.board->name, format_bytes(ram)))
        .note(fmt::format(
            "{} {}, inputs and outputs {}, stack {}", workspace ? "workspace" : "arena",
            format_bytes(workspace ? f.workspace_bytes : f.arena_bytes),
            format_bytes(f.caller_bytes), format_bytes(c.board->stack_bytes)))
        .help(
            "'aotc report MODEL' shows which operators hold the most; a smaller input or fewer "
            "channels there shrink the arena");
    fits = false;
  }
  if (flash > 0 && need_flash > flash) {
    diags
        .error(where, "does-not-fit",
               fmt::format("needs about {} of flash, board {} has {}", format_bytes(need_flash),
                           c.board->name, format_bytes(flash)))
        .note(fmt::format("constants {}, code about {}", format_bytes(f.constant_bytes),
                          format_bytes(kFirmwareCode)))
        .help(has_float_constants(c.program) ? "quantise the model to int8 (a quarter of the "
                                               "bytes), or choose a board with more flash"
                                             : "'aotc report MODEL' shows which operators hold the "
                                               "most constants; fewer channels "
                                               "there, or choose a board with more flash");
    fits = false;
  }
  return fits;
}

std::string summary_text(const Compiled& c) {
  Figures f = figures_of(c);
  const plan::Program& p = c.program;
  std::vector<std::vector<std::string>> rows;
  auto limit = [&](const char* use) {
    int64_t bytes = c.board ? c.board->memory_bytes(use) : 0;
    return bytes > 0 ? fmt::format("of {} on {}", format_bytes(bytes), c.board->name)
                     : std::string();
  };
  std::string proof = p.arena_proven_optimal
                          ? "optimal"
                          : fmt::format("lower bound {}", format_bytes(p.arena_lower_bound));
  if (c.options.memory == codegen::MemoryMode::kWorkspace)
    rows.push_back({"RAM: workspace", format_bytes(f.workspace_bytes), limit("arena")});
  else
    rows.push_back({"RAM: arena", format_bytes(f.arena_bytes), proof, limit("arena")});
  if (c.operator_workspace_bytes > 0)
    rows.push_back({"RAM: operators", format_bytes(c.operator_workspace_bytes),
                    "allocated by the functions given in C"});
  rows.push_back(caller_row(p, f));
  if (c.board && !c.board->memories.empty())
    rows.push_back(
        {"RAM: stack", format_bytes(c.board->stack_bytes), "reserved; 'aotc run' measures"});
  rows.push_back({"flash: constants", format_bytes(f.constant_bytes),
                  fmt::format("raw {}", format_bytes(f.raw_constant_bytes)), limit("constants")});
  rows.push_back({"MACs per inference", with_commas(f.macs)});
  rows.push_back({"operators", std::to_string(p.graph.ops.size()),
                  fmt::format("{} calls, {} functions", p.calls.size(), p.functions.size())});
  if (int64_t removed = c.statistics.constant_channels + c.statistics.unread_channels; removed > 0)
    rows.push_back({"channels removed", with_commas(removed),
                    fmt::format("{} constant, {} unread, in {} tensors",
                                with_commas(c.statistics.constant_channels),
                                with_commas(c.statistics.unread_channels),
                                c.statistics.channels_cut_tensors)});
  std::string out;
  for (const auto& port : p.graph.inputs)
    out += fmt::format("input  '{}': {}\n", escape_for_display(port.name),
                       codegen::describe(p.graph[port.tensor].type));
  for (const auto& port : p.graph.outputs)
    out += fmt::format("output '{}': {}\n", escape_for_display(port.name),
                       codegen::describe(p.graph[port.tensor].type));
  return out + format_table(rows);
}

nlohmann::ordered_json layers_json(const Compiled& c) {
  nlohmann::ordered_json layers = nlohmann::ordered_json::array();
  const plan::Program& p = c.program;
  for (size_t i = 0; i < p.calls.size(); ++i) {
    const plan::ProgramCall& call = p.calls[i];
    nlohmann::ordered_json j;
    j["call"] = i;
    j["function"] = c.c.function_names[static_cast<size_t>(call.function)];
    j["schedule"] = call.schedule.text();
    j["scratch_bytes"] = call.scratch_bytes;
    j["live_bytes"] = p.live_bytes[i];
    int64_t constants = 0;
    for (const plan::CallArgument& a : call.arguments)
      if (a.storage.kind == plan::StorageKind::kConstant)
        constants += static_cast<int64_t>(
            p.constants[static_cast<size_t>(a.storage.index)].data.bytes.size());
    j["constants_bytes"] = constants;
    if (call.op_index >= 0) {
      const graph::Op& op = p.graph.ops[static_cast<size_t>(call.op_index)];
      j["op"] = op.name();
      j["op_index"] = op.location.op_index;
      j["op_type"] = op.location.op_type;
      j["macs"] = ops::definition_of(op).macs({p.graph, op});
      j["uses_libm"] = ops::definition_of(op).traits().uses_libm;
      nlohmann::ordered_json results = nlohmann::ordered_json::array();
      for (graph::TensorId id : op.results) {
        const graph::Tensor& t = p.graph[id];
        results.push_back({{"tensor", escape_for_display(t.name, 4096)},
                           {"dtype", name_of(t.type.dtype)},
                           {"shape", t.type.shape},
                           {"bytes", t.type.bytes()}});
      }
      j["results"] = results;
    }
    layers.push_back(j);
  }
  return layers;
}

nlohmann::ordered_json summary_json(const Compiled& c) {
  Figures f = figures_of(c);
  nlohmann::ordered_json j;
  j["prefix"] = c.prefix;
  if (c.board) j["board"] = c.board->name;
  j["arena_bytes"] = f.arena_bytes;
  j["arena_lower_bound"] = c.program.arena_lower_bound;
  j["arena_optimal"] = c.program.arena_proven_optimal;
  j["arena_method"] = c.program.arena_method;
  j["arena_without_overlap"] = c.program.arena_without_overlap;
  j["workspace_bytes"] = f.workspace_bytes;
  if (c.operator_workspace_bytes > 0) j["operator_workspace_bytes"] = c.operator_workspace_bytes;
  j["input_bytes"] = f.input_bytes;
  j["output_bytes"] = f.output_bytes;
  j["level"] = name_of(c.options.level);
  j["prefer"] = c.options.prefer_ram ? "ram" : "speed";
  j["input_in_arena"] = c.program.input_contract == plan::Contract::kOverwrite;
  j["output_in_arena"] = c.program.output_contract == plan::Contract::kOverwrite;
  j["constants_bytes"] = f.constant_bytes;
  j["raw_constants_bytes"] = f.raw_constant_bytes;
  j["macs"] = f.macs;
  j["channels_removed"] = {{"constant", c.statistics.constant_channels},
                           {"unread", c.statistics.unread_channels},
                           {"tensors", c.statistics.channels_cut_tensors}};
  auto ports = [&](const std::vector<graph::Port>& list, const std::vector<std::string>& fields) {
    nlohmann::ordered_json out = nlohmann::ordered_json::array();
    for (size_t i = 0; i < list.size(); ++i) {
      const graph::TensorType& t = c.program.graph[list[i].tensor].type;
      out.push_back({{"name", escape_for_display(list[i].name, 4096)},
                     {"field", fields[i]},
                     {"dtype", name_of(t.dtype)},
                     {"shape", t.shape},
                     {"scale", t.scale()},
                     {"zero_point", t.zero_point()}});
    }
    return out;
  };
  j["inputs"] = ports(c.program.graph.inputs, c.c.input_fields);
  j["outputs"] = ports(c.program.graph.outputs, c.c.output_fields);
  j["layers"] = layers_json(c);
  return j;
}

void save_run(const ProjectDir& project, const FirmwareRun& run) {
  nlohmann::ordered_json j;
  j["values"] = run.values;
  j["op_ticks"] = run.op_ticks;
  Diagnostics ignored;  // A report without run figures is still a report.
  if (!write_file(project.path + "/build/run.json",
                  j.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace), ignored))
    return;
}

nlohmann::ordered_json load_run(const std::string& project_path) {
  std::ifstream in(project_path + "/build/run.json");
  if (!in) return nlohmann::ordered_json::object();
  auto j = nlohmann::ordered_json::parse(in, nullptr, false);
  return j.is_object() ? j : nlohmann::ordered_json::object();
}

}  // namespace aotc::driver
