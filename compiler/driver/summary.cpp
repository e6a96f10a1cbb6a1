// SPDX-License-Identifier: Apache-2.0
#include "driver/summary.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driver/budget.h"
#include "driver/compile_options.h"
#include "driver/estimate.h"
#include "driver/slices.h"
#include "ops/operator.h"
#include "plan/executions.h"
#include "support/files.h"
#include "support/json.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

// The row of inputs and outputs that do not lie in the arena.
std::vector<std::string> caller_row(const plan::Program& p, const Figures& f) {
  bool in = p.input_contract == plan::Contract::kPreserve && !p.feeding;
  bool out = p.output_contract == plan::Contract::kPreserve;
  std::vector<std::string> row = {in == out ? "RAM: inputs and outputs"
                                  : in      ? "RAM: inputs"
                                            : "RAM: outputs",
                                  exact_bytes(f.caller_bytes)};
  if (!in || !out)
    row.push_back(p.feeding
                      ? fmt::format("{}the caller feeds the input: {} rows of {}", out ? "" : "outputs in the arena, ",
                                    p.feeding->rows(), exact_bytes(p.feeding->row_bytes))
                      : fmt::format("{} in the arena", in    ? "outputs"
                                                       : out ? "inputs"
                                                             : "both"));
  return row;
}

// Operators of float activations with int8 weights.
int64_t dynamic_operators(const graph::Graph& graph) {
  auto is_one = [&](const graph::Op& op) {
    ops::OpView view{graph, op};
    return view.has_operand(0) && view.has_operand(1) && view.constant(1) && view.operand(0).dtype == DType::kF32 &&
           view.operand(1).dtype == DType::kI8;
  };
  return std::count_if(graph.ops.begin(), graph.ops.end(), is_one);
}

// How many calls stand in the code, if some are in loops.
std::string in_loops(const Compiled& c) {
  if (c.c.printed_calls == static_cast<int64_t>(c.program.calls.size())) return "";
  return fmt::format(" ({} in the code, with loops)", c.c.printed_calls);
}

int64_t cut_channels(const Compiled& c) { return c.statistics.constant_channels + c.statistics.unread_channels; }

}  // namespace

std::string live_text(const Compiled& c) {
  const std::vector<int64_t>& live = c.program.live_bytes;
  const int64_t most = live.empty() ? 0 : *std::max_element(live.begin(), live.end());
  if (most <= c.program.arena_bytes || c.options.memory == codegen::MemoryMode::kWorkspace) return "";
  return fmt::format("Peak of live tensors: {}. The arena is smaller because outputs reuse the memory of inputs.\n",
                     exact_bytes(most));
}

static void add_sections(const Compiled& c, std::vector<std::vector<std::string>>& rows) {
  const plan::Program& p = c.program;
  Diagnostics checked_before;
  if (auto sections = parse_sections(c.options, checked_before); sections && !sections->empty()) {
    std::vector<int> section = plan::assign_sections(p, *sections);
    std::vector<double> reads = plan::constant_reads(p);
    for (size_t s = 0; s < sections->size(); ++s) {
      int64_t bytes = 0;
      double read = 0;
      for (size_t i = 0; i < section.size(); ++i) {
        if (section[i] != static_cast<int>(s)) continue;
        bytes += static_cast<int64_t>(p.constants[i].data.bytes.size());
        read += reads[i];
      }
      rows.push_back({"  in " + (*sections)[s].name, exact_bytes(bytes),
                      fmt::format("each byte read {:.1f} times per run",
                                  read / static_cast<double>(std::max<int64_t>(1, bytes)))});
    }
  }
}

namespace {

// What a run is estimated to take, if that is known of the core and of all calls.
void add_cycles(const Compiled& c, std::vector<std::vector<std::string>>& rows) {
  const CycleEstimate& estimate = estimated_cycles(c);
  if (estimate.total > 0)
    rows.push_back({"cycles" + per_iteration_text(c) + ", estimated", with_commas(estimate.total), cycle_assumption(c),
                    milliseconds_text(c, estimate)});
}

void add_cycles(const Compiled& c, nlohmann::ordered_json& j) {
  const CycleEstimate& estimate = estimated_cycles(c);
  if (estimate.total == 0) return;
  j["estimated_cycles"] = estimate.total;
  if (estimate.most > 0) j["estimated_cycles_most"] = estimate.most;
  j["cycles_assumption"] = cycle_assumption(c);
}

}  // namespace

std::string summary_text(const Compiled& c, const StackNeed* stack) {
  Figures f = figures_of(c);
  const plan::Program& p = c.program;
  std::vector<std::vector<std::string>> rows;
  auto limit = [&](const char* use) {
    int64_t bytes = c.board ? c.board->memory_bytes(use) : 0;
    return bytes > 0 ? fmt::format("of {} on {}", exact_bytes(bytes), c.board->name) : std::string();
  };
  std::string proof =
      p.arena_proven_optimal ? "optimal" : fmt::format("lower bound {}", exact_bytes(p.arena_lower_bound));
  if (c.options.memory == codegen::MemoryMode::kWorkspace)
    rows.push_back({"RAM: workspace", exact_bytes(f.workspace_bytes), limit("arena")});
  else rows.push_back({"RAM: arena", exact_bytes(f.arena_bytes), proof, limit("arena")});
  if (f.state_bytes > 0)
    rows.push_back(
        {"RAM: state", exact_bytes(f.state_bytes), "kept from run to run; each instance of the model has its own"});
  if (p.feeding && p.feeding->period > 0)
    rows.push_back({"RAM: kept", exact_bytes(p.feeding->kept_bytes), "part of the arena, kept between frames"});
  if (c.operator_workspace_bytes > 0)
    rows.push_back(
        {"RAM: operators", exact_bytes(c.operator_workspace_bytes), "allocated by the operator functions in C"});
  rows.push_back(caller_row(p, f));
  if (c.board && !c.board->memories.empty())
    rows.push_back({"RAM: stack", exact_bytes(c.board->stack_bytes),
                    stack ? fmt::format("reserved; a run takes {} {}", stack->computed ? "at most" : "perhaps",
                                        exact_bytes(stack->bytes))
                          : "reserved; measure with 'aotc run'"});
  rows.push_back({"flash: constants", exact_bytes(f.constant_bytes),
                  fmt::format("raw {}", exact_bytes(f.raw_constant_bytes)), limit("constants")});
  add_sections(c, rows);
  if (const auto longest = longest_slice_of(c))
    rows.push_back({"longest slice", with_commas(longest->instructions),
                    fmt::format("instructions at most, by the cost model of {}: call {}", c.plan_options.target.name,
                                longest->call),
                    c.more_arena == 0 ? ""
                                      : fmt::format("the arena is {} bytes larger because of the slices",
                                                    with_commas(c.more_arena))});
  if (const auto longest = longest_feed_of(c))
    rows.push_back({"longest feed", with_commas(longest->instructions),
                    fmt::format("instructions at most, by the cost model of {}: row {} of {}",
                                c.plan_options.target.name, longest->row, c.program.feeding->rows())});
  add_cycles(c, rows);
  if (c.budget)
    rows.push_back(
        {"budget", c.options.options(),
         fmt::format("{}; {} candidates compiled{}", budget_text(c.budget->figures), c.budget->tried,
                     c.budget->schedules > 0 ? "; " + schedules_text(c.budget->schedules) + " chosen" : "")});
  if (const std::string arrangement = p.schedule.arrangement.text(); !arrangement.empty())
    rows.push_back({"arrangement", "", arrangement});
  const std::string unit = per_iteration_text(c);
  rows.push_back({"MACs" + (unit.empty() ? " per inference" : unit), with_commas(f.macs)});
  if (const int64_t all = plan::macs_of(c.original); cut_channels(c) > 0 && all > f.macs)
    rows.back().push_back(
        fmt::format("the model has {}, and removed channels have {}", with_commas(all), with_commas(all - f.macs)));
  if (!unit.empty()) rows.push_back({"loops", "of unknown length", "inputs or states decide how often they run"});
  rows.push_back({"operators", std::to_string(p.graph.ops.size()),
                  fmt::format("{} calls{}, {} functions", p.calls.size(), in_loops(c), p.functions.size())});
  if (int64_t count = dynamic_operators(p.graph); count > 0)
    rows.push_back({"dynamic range", fmt::format("{} operators", count),
                    "float activations with int8 weights: rows are quantised at run time"});
  if (int64_t removed = cut_channels(c); removed > 0)
    rows.push_back({"channels removed", with_commas(removed),
                    fmt::format("{} constant, {} unread, in {} tensors", with_commas(c.statistics.constant_channels),
                                with_commas(c.statistics.unread_channels), c.statistics.channels_cut_tensors)});
  std::string out;
  for (const auto& port : p.graph.inputs)
    out +=
        fmt::format("input  '{}': {}\n", escape_for_display(port.name), codegen::describe(p.graph[port.tensor].type));
  for (const auto& port : p.graph.outputs)
    out +=
        fmt::format("output '{}': {}\n", escape_for_display(port.name), codegen::describe(p.graph[port.tensor].type));
  return out + format_table(rows);
}

nlohmann::ordered_json layers_json(const Compiled& c) {
  nlohmann::ordered_json layers = nlohmann::ordered_json::array();
  const plan::Program& p = c.program;
  const plan::Executions executions = plan::executions_of(p);
  for (size_t i = 0; i < p.calls.size(); ++i) {
    const plan::ProgramCall& call = p.calls[i];
    nlohmann::ordered_json j;
    j["call"] = i;
    if (executions.times[i] != 1) j["times"] = executions.times[i];
    if (executions.per_iteration[i]) j["per_iteration"] = true;
    j["function"] = c.c.function_names[static_cast<size_t>(call.function)];
    j["schedule"] = call.schedule.text();
    j["scratch_bytes"] = call.scratch_bytes;
    j["live_bytes"] = p.live_bytes[i];
    if (i < c.instructions.size()) j["slice_instructions"] = c.instructions[i];
    int64_t constants = 0;
    for (const plan::CallArgument& a : call.arguments)
      if (a.storage.kind == plan::StorageKind::kConstant)
        constants += static_cast<int64_t>(p.constants[static_cast<size_t>(a.storage.index)].data.bytes.size());
    j["constants_bytes"] = constants;
    if (call.op_index >= 0) {
      const graph::Op& op = p.graph.ops[static_cast<size_t>(call.op_index)];
      j["op"] = op.name();
      j["op_index"] = op.location.op_index;
      j["op_type"] = op.location.op_type;
      j["macs"] = plan::multiplied(ops::definition_of(op).macs({p.graph, op}), executions.times[i]);
      j["uses_libm"] = ops::definition_of(op).traits().uses_libm;
      nlohmann::ordered_json results = nlohmann::ordered_json::array();
      for (graph::TensorId id : op.results) {
        const graph::Tensor& t = p.graph[id];
        results.push_back({{"tensor", whole_name(t.name)},
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

nlohmann::ordered_json summary_json(const Compiled& c, const StackNeed* stack) {
  Figures f = figures_of(c);
  nlohmann::ordered_json j;
  j["format_version"] = project::kFormatVersion;
  j["prefix"] = c.prefix;
  if (!c.options.cpu_name.empty()) j["cpu"] = c.options.cpu_name;
  if (!c.options.board_name.empty()) j["board"] = c.board->name;
  j["arena_bytes"] = f.arena_bytes;
  j["arena_lower_bound"] = c.program.arena_lower_bound;
  j["arena_optimal"] = c.program.arena_proven_optimal;
  j["arena_method"] = c.program.arena_method;
  j["arena_without_overlap"] = c.program.arena_without_overlap;
  j["workspace_bytes"] = f.workspace_bytes;
  if (f.state_bytes > 0) j["state_bytes"] = f.state_bytes;
  if (c.operator_workspace_bytes > 0) j["operator_workspace_bytes"] = c.operator_workspace_bytes;
  j["input_bytes"] = f.input_bytes;
  j["output_bytes"] = f.output_bytes;
  j.update(variant_json(c.options));
  if (c.program.schedule.arrangement != plan::Arrangement()) j["arrangement"] = to_json(c.program.schedule.arrangement);
  j["input_in_arena"] = c.program.input_contract == plan::Contract::kOverwrite;
  j["output_in_arena"] = c.program.output_contract == plan::Contract::kOverwrite;
  if (c.budget) j["budget"] = budget_json(*c.budget);
  j["constants_bytes"] = f.constant_bytes;
  j["raw_constants_bytes"] = f.raw_constant_bytes;
  add_cycles(c, j);
  if (const auto longest = longest_slice_of(c))
    j["longest_slice"] = {
        {"call", longest->call}, {"instructions", longest->instructions}, {"more_arena_bytes", c.more_arena}};
  if (c.program.feeding) {
    j["rows"] = {{"count", c.program.feeding->rows()}, {"bytes", c.program.feeding->row_bytes}};
    if (const auto longest = longest_feed_of(c))
      j["longest_feed"] = {{"row", longest->row}, {"instructions", longest->instructions}};
  }
  j["macs"] = f.macs;
  if (!per_iteration_text(c).empty()) j["per_iteration"] = true;
  j["model_macs"] = plan::macs_of(c.original);
  if (stack) j["model_stack_bytes"] = stack->bytes;
  if (stack) j["model_stack_computed"] = stack->computed;
  j["channels_removed"] = {{"constant", c.statistics.constant_channels},
                           {"unread", c.statistics.unread_channels},
                           {"tensors", c.statistics.channels_cut_tensors}};
  auto ports = [&](const std::vector<graph::Port>& list, const std::vector<std::string>& fields) {
    nlohmann::ordered_json out = nlohmann::ordered_json::array();
    for (size_t i = 0; i < list.size(); ++i) {
      const graph::TensorType& t = c.program.graph[list[i].tensor].type;
      out.push_back({{"name", whole_name(list[i].name)},
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
  j["tensors"] = tensors_json(c.program);
  if (c.options.memory == codegen::MemoryMode::kStatic) j["memory"] = memory_json(c.program);
  j["layers"] = layers_json(c);
  return j;
}

std::string image_hash(const ProjectDir& project) {
  Diagnostics ignored;
  if (!project.has_image()) return "";
  auto bytes = read_file(project.image(), ignored);
  if (!bytes) return "";
  return fmt::format("{:016x}", stable_hash(std::string(bytes->begin(), bytes->end())));
}

void save_run(const ProjectDir& project, const FirmwareRun& run) {
  nlohmann::ordered_json j;
  j["values"] = run.values;
  j["op_ticks"] = run.op_ticks;
  j["image"] = image_hash(project);
  Diagnostics ignored;  // A report without run figures is still a report.
  if (!write_file(project.path + "/build/run.json", json_text(j, 1), ignored)) return;
}

std::string unit_of_run(const ProjectDir& project, const nlohmann::ordered_json& run) {
  const std::string clock = project.board.field("clock.unit");
  return run.contains("values") && run["values"].contains(clock) ? clock : project.board.emulated_unit();
}

nlohmann::ordered_json load_run(const ProjectDir& project) {
  std::ifstream in(project.path + "/build/run.json");
  if (!in) return nlohmann::ordered_json::object();
  const std::string text(std::istreambuf_iterator<char>(in), {});
  nlohmann::ordered_json j;
  (void)parse_json(text, j);  // null if it is no JSON
  // Figures of a firmware that was built anew since are not those of this one.
  if (!j.is_object() || j.value("image", nlohmann::ordered_json()) != image_hash(project))
    return nlohmann::ordered_json::object();
  j.erase("image");
  // What is no figure was not written by aotc.
  auto is_count = [](const nlohmann::ordered_json& v) { return v.is_number_integer() && v >= 0; };
  auto keep = [&](const char* key, bool right) {
    if (!right) j.erase(key);
  };
  keep("op_ticks", j.contains("op_ticks") && j["op_ticks"].is_array() &&
                       std::all_of(j["op_ticks"].begin(), j["op_ticks"].end(), is_count));
  keep("values", j.contains("values") && j["values"].is_object() &&
                     std::all_of(j["values"].begin(), j["values"].end(),
                                 [&](const auto& v) { return v.is_string() || is_count(v); }));
  return j;
}

}  // namespace aotc::driver
