// SPDX-License-Identifier: Apache-2.0
#include "driver/compilation.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "codegen/c_run.h"
#include "codegen/c_tvm.h"
#include "driver/graph_model.h"
#include "driver/input_shapes.h"
#include "driver/project_dir.h"
#include "driver/schedules.h"
#include "driver/self_test.h"
#include "frontends/foreign.h"
#include "frontends/tflite/reader.h"
#include "ops/operator.h"
#include "passes/devices.h"
#include "passes/pipeline.h"
#include "plan/print.h"
#include "project/cpus.h"
#include "support/files.h"
#include "support/streams.h"
#include "support/text.h"
#include "target/cpu.h"

namespace aotc::driver {

namespace {

Failure conflicting(const std::string& file, const std::string& what, const std::string& help,
                    Diagnostics& diags) {
  Location where;
  where.file = file;
  diags.error(where, "option-conflict", what).help(help);
  return kFailure;
}

}  // namespace

Result<graph::Graph> load_model(const CompileOptions& options, std::vector<uint8_t>* bytes,
                                GivenOperators* operators, Diagnostics& diags) {
  if (auto foreign = frontends::recognise_foreign_folder(options.model_path)) {
    Location where;
    where.file = options.model_path;
    frontends::report_foreign(diags, where, *foreign);
    return kFailure;
  }
  auto read = read_file(options.model_path, diags);
  if (!read) return kFailure;
  if (bytes) *bytes = *read;
  InitialValues own = options.initial_values;
  if (operators) operators->initial_values = own;
  ModelKind kind = kind_of(options.model_path, *read);
  if (kind != ModelKind::kTflite) {
    if (!options.shapes.empty())
      return conflicting(options.model_path, "--shape is for .tflite models; TVM's graphs have fixed shapes",
                         "leave it out", diags);
    auto model = load_graph_model(kind, *read, options, diags);
    if (!model) return kFailure;
    if (operators) {
      model->operators.initial_values = std::move(operators->initial_values);
      *operators = std::move(model->operators);
    }
    InitialValues& initial_values = operators ? operators->initial_values : own;
    if (!pair_states(model->graph, options.states, initial_values, diags)) return kFailure;
    return std::move(model->graph);
  }
  if (!options.params_path.empty() || !options.operators.empty())
    return conflicting(options.model_path,
                       "--params and --operators are for TVM graphs, and this is none",
                       "leave them out", diags);
  auto shapes = parse_input_shapes(options.shapes, diags);
  if (!shapes) return kFailure;
  frontends::ReadOptions read_options;
  read_options.signature = options.signature;
  read_options.shapes = std::move(*shapes);
  auto graph = frontends::read_tflite(std::move(*read), options.model_path, diags, read_options);
  // The reader has asked every operator.
  InitialValues& initial_values = operators ? operators->initial_values : own;
  if (!graph || !pair_states(*graph, options.states, initial_values, diags) ||
      !graph::verify_structure(*graph, diags))
    return kFailure;
  return graph;
}

const char* name_of(ops::Level level) {
  return level == ops::Level::kSize ? "size" : level == ops::Level::kSpeed ? "speed" : "balanced";
}

ops::Level level_of(const std::string& name) {
  return name == "size"    ? ops::Level::kSize
         : name == "speed" ? ops::Level::kSpeed
                           : ops::Level::kBalanced;
}

const char* name_of(codegen::CallingConvention convention) {
  switch (convention) {
    case codegen::CallingConvention::kPacked: return "packed";
    case codegen::CallingConvention::kRegistry: return "registry";
    case codegen::CallingConvention::kPlain: break;
  }
  return "plain";
}

codegen::CallingConvention convention_of(const std::string& name) {
  return name == "packed"     ? codegen::CallingConvention::kPacked
         : name == "registry" ? codegen::CallingConvention::kRegistry
                              : codegen::CallingConvention::kPlain;
}

Result<std::vector<plan::Pool>> parse_pools(const std::vector<std::string>& texts,
                                            Diagnostics& diags) {
  std::vector<plan::Pool> pools;
  Location where;
  where.file = "--pool";
  bool good = true;
  auto wrong = [&](const std::string& text, const std::string& why) {
    diags.error(where, "pool-invalid", fmt::format("'{}' {}", escape_for_display(text), why))
        .help("write NAME:BYTES, NAME:BYTES:fast or NAME:BYTES:constants, with a C identifier as name");
    good = false;
  };
  for (const std::string& text : texts) {
    plan::Pool pool;
    size_t colon = text.find(':');
    // As a memory of the board is called, which C has in lower case.
    for (char letter : text.substr(0, colon))
      pool.name += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    std::string rest = colon == std::string::npos ? "" : text.substr(colon + 1);
    for (auto [suffix, flag] : {std::pair{":fast", &pool.fast}, {":constants", &pool.constants}})
      if (rest.ends_with(suffix)) {
        *flag = true;
        rest.resize(rest.size() - std::string_view(suffix).size());
      }
    bool digits = !rest.empty() && rest.size() <= 10 &&
                  rest.find_first_not_of("0123456789") == std::string::npos;
    if (pool.name.empty() || c_identifier(pool.name) != pool.name) {
      wrong(text, "has no name that C takes");
    } else if (!digits || std::stoll(rest) > INT32_MAX) {
      wrong(text, "has no size in bytes");
    } else if (pool.name == "arena" && pool.constants) {
      wrong(text, "has the name of the pool of intermediate tensors");
    } else if (std::any_of(pools.begin(), pools.end(), [&](const plan::Pool& p) {
                 return p.name == pool.name || (p.constants && pool.constants);
               })) {
      wrong(text, "has the name of an earlier pool, or is a second one of constants");
    } else {
      pool.limit = std::stoll(rest);
    }
    pools.push_back(std::move(pool));
  }
  if (!good) return kFailure;
  return pools;
}

Result<std::vector<plan::ConstantSection>> parse_sections(const CompileOptions& options,
                                                          Diagnostics& diags) {
  std::vector<plan::ConstantSection> out;
  auto wrong = [&](const std::string& what, const std::string& help) -> Failure {
    (void)conflicting(options.model_path, "--constants-section " + what, help, diags);
    return kFailure;
  };
  const std::string& all = options.constants_section;
  for (size_t at = 0; at < all.size();) {
    size_t end = std::min(all.find(',', at), all.size());
    std::string text = all.substr(at, end - at);
    at = end + 1;
    size_t colon = std::min(text.find(':'), text.size());
    plan::ConstantSection section{text.substr(0, colon), -1};
    if (section.name.empty() ||
        section.name.find_first_not_of(
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") != std::string::npos)
      return wrong("is not the name of a section", "use letters, digits, '_' and '.'");
    // Tables have content, and no place before the vectors.
    for (const char* other : {".bss", ".tbss", ".noinit", ".stack", ".vectors"})
      if (section.name.starts_with(other))
        return wrong(fmt::format("{} is a section that holds no tables", section.name),
                     "'aotc boards NAME' shows the sections of its memories that do");
    if (colon < text.size()) {
      std::string bytes = text.substr(colon + 1);
      if (bytes.empty() || bytes.size() > 10 || bytes.find_first_not_of("0123456789") != std::string::npos)
        return wrong(fmt::format("{} has no size in bytes", section.name), "write NAME or NAME:BYTES");
      section.bytes = std::stoll(bytes);
    }
    if (!out.empty() && out.back().bytes < 0)
      return wrong(fmt::format("{} comes behind one that takes all that is left", section.name),
                   fmt::format("give {}:BYTES a size, or leave {} out", out.back().name, section.name));
    if (std::any_of(out.begin(), out.end(), [&](const auto& s) { return s.name == section.name; }))
      return wrong(fmt::format("{} is given twice", section.name), "leave one of them out");
    out.push_back(std::move(section));
  }
  return out;
}

Contracts contracts_of(const CompileOptions& options) {
  // TVM's callers have their inputs and outputs.
  bool arena = options.memory == codegen::MemoryMode::kStatic && !options.tvm_interface;
  return {options.inputs.value_or(arena ? plan::Contract::kOverwrite : plan::Contract::kPreserve),
          options.outputs.value_or(plan::Contract::kPreserve)};
}

namespace {

// Options that cannot go together.
Status check_options(const CompileOptions& options, Diagnostics& diags) {
  auto conflict = [&](const std::string& what, const std::string& help) -> Status {
    return conflicting(options.model_path, what, help, diags);
  };
  if (!options.cpu_name.empty() && !options.board_name.empty() &&
      options.board_name != project::kGenericBoard)
    return conflict("--cpu is for whoever has no board here, and --board says which CPU it has",
                    "leave one of them out");
  bool workspace = options.memory == codegen::MemoryMode::kWorkspace;
  if (workspace && (!options.pools.empty() || !options.devices_path.empty()))
    return conflict(fmt::format("{} needs planned memory, which --memory workspace does not have",
                                options.pools.empty() ? "--devices" : "--pool"),
                    "leave one of them out");
  bool overwrites = options.inputs == plan::Contract::kOverwrite ||
                    options.outputs == plan::Contract::kOverwrite;
  if (options.tvm_interface && overwrites)
    return conflict("inputs and outputs of TVM's interface are the caller's",
                    "leave --input and --output out, or --interface");
  if (!parse_sections(options, diags)) return kFailure;
  if (!options.constants_section.empty() &&
      std::any_of(options.pools.begin(), options.pools.end(),
                  [](const std::string& pool) { return pool.ends_with(":constants"); }))
    return conflict("--constants-section is for tables, which a pool of constants takes away",
                    "leave one of them out");
  if (options.arena == codegen::ArenaOwner::kModel && !options.pools.empty())
    return conflict("--pool is memory of the caller, and --arena model is not",
                    "leave one of them out");
  if (!workspace) return success();
  Contracts contracts = contracts_of(options);
  for (auto [contract, name] : {std::pair{contracts.inputs, "--input"}, {contracts.outputs, "--output"}}) {
    if (contract == plan::Contract::kPreserve) continue;
    return conflict(
        fmt::format("{} overwrite needs an arena, which --memory workspace does not have", name),
        fmt::format("leave {} out, or plan the memory with --memory static", name));
  }
  return success();
}

// Tensors of devices are written, and lie in memory that the caller gives.
Status check_device_pools(const CompileOptions& options, const plan::PlanOptions& plan_options,
                          Diagnostics& diags) {
  auto conflict = [&](const std::string& what, const std::string& help) -> Status {
    return conflicting(options.devices_path, what, help, diags);
  };
  for (const passes::Device& d : plan_options.devices.devices) {
    if (d.pool.empty()) continue;
    if (options.arena == codegen::ArenaOwner::kModel)
      return conflict(fmt::format("pool '{}' of device '{}' is memory of the caller, and --arena model "
                                  "is not", d.pool, d.name),
                      "leave --arena out, or the member 'pool'");
    for (const plan::Pool& pool : plan_options.pools)
      if (pool.constants && pool.name == d.pool)
        return conflict(fmt::format("pool '{}' of device '{}' is one of constants, which are only read",
                                    d.pool, d.name),
                        "give the device another pool");
  }
  return success();
}

// What cannot have its tables in program memory.
Status check_program_tables(const CompileOptions& options, Diagnostics& diags) {
  std::string what;
  if (options.convention != codegen::CallingConvention::kPlain)
    what = fmt::format("--calling-convention {} passes tables as tensors, which", name_of(options.convention));
  if (!options.constants_section.empty()) what = "--constants-section is for tables that";
  if (what.empty()) return success();
  return conflicting(options.model_path,
                     fmt::format("{} cannot be in the program memory of {}", what,
                                 options.board_name.empty() ? options.cpu_name : "board " + options.board_name),
                     "keep the tables in RAM with --constants ram, or leave the option out", diags);
}

Status run_passes(graph::Graph& graph, const CompileOptions& options,
                  const passes::DeviceSet& devices,
                  passes::PassStatistics& statistics, Diagnostics& diags) {
  passes::RunOptions run;
  run.passes.devices = &devices;
  run.passes.strip_boundary_float = options.strip_boundary_float;
  run.passes.keep_dead_channels = options.keep_dead_channels;
  run.passes.statistics = &statistics;
  std::set<std::string, std::less<>> dump(options.dump_after.begin(), options.dump_after.end());
  for (const std::string& name : dump) {
    if (name == "all" || name == "tir" || name == "plan" || passes::find_pass(name)) continue;
    Location where;
    where.file = "--dump-after";
    std::vector<std::string> names;
    for (const passes::Pass& p : passes::pipeline()) names.emplace_back(p.name);
    names.insert(names.end(), {"tir", "plan"});
    auto& d = diags.error(where, "pass-unknown", fmt::format("there is no pass '{}'", name));
    for (const std::string& near : closest(name, names))
      d.help(fmt::format("did you mean '{}'?", near));
    d.help("'aotc-opt --list-passes' lists them all");
    return kFailure;
  }
  run.after = [&](const passes::Pass& pass, const graph::Graph& g) {
    if (!dump.contains("all") && !dump.contains(pass.name)) return;
    print_err("; after {}\n{}", pass.name, graph::print(g, 256));
  };
  if (options.time_passes)
    run.timed = [](const passes::Pass& pass, std::chrono::nanoseconds t) {
      print_err("{:>10.3f} ms  {}\n", static_cast<double>(t.count()) / 1e6, pass.name);
    };
  return passes::run_pipeline(graph, run, diags);
}

// What models with state, branches or loops cannot have yet.
Status check_structure(const CompileOptions& options, const plan::Program& program, Diagnostics& diags) {
  const std::string& file = options.model_path;
  if (program.source != nullptr && options.memory == codegen::MemoryMode::kWorkspace)
    return conflicting(file, "--memory workspace is for models without branches and loops",
                       "leave it out: the arena is planned for all ways through the model", diags);
  if (program.state_bytes > 0 && options.tvm_interface)
    return conflicting(file, "TVM's interface has no place for what the model keeps from run to run",
                       "leave --interface out and pass the state to NAME_run", diags);
  if (program.state_bytes > 0 && program.constant_pool >= 0)
    return conflicting(file, "the first values of states are tables, which a pool of constants would have",
                       "leave the pool of constants out, or use --constants-section", diags);
  return success();
}

// What begins with the prefix is the model's own: functions of the user's must not be called so.
Status check_symbols(const Compiled& c, Diagnostics& diags) {
  for (const plan::ProgramFunction& f : c.program.functions) {
    if (!f.external) continue;
    const plan::ProgramCall& call = c.program.calls[static_cast<size_t>(f.calls[0])];
    const Location& where = c.program.graph.ops[static_cast<size_t>(call.op_index)].location;
    const passes::Device& device = c.program.devices[static_cast<size_t>(f.device)];
    if (device.launch != passes::Launch::kNone &&
        f.external->convention != ops::ExternalConvention::kPacked) {
      diags
          .error(where, "operator-signature",
                 fmt::format("device '{}' launches packed functions, and '{}' is none",
                             device.name, f.external->symbol))
          .help("give the function TVM's packed signature, or the device \"launch\": \"none\"");
      return kFailure;
    }
    if (codegen::is_taken(f.external->symbol, c.program)) {
      diags
          .error(where, "operator-name",
                 fmt::format("function '{}' is called like something in the emitted code",
                             f.external->symbol))
          .help("give the function another name");
      return kFailure;
    }
    if (!f.external->symbol.starts_with(c.prefix + "_")) continue;
    diags
        .error(where, "operator-name",
               fmt::format("function '{}' begins with the model's prefix '{}_'", f.external->symbol,
                           c.prefix))
        .help("choose another prefix with --prefix");
    return kFailure;
  }
  return success();
}

}  // namespace

Result<Compiled> compile_model(const CompileOptions& options, Diagnostics& diags) {
  if (!check_options(options, diags)) return kFailure;
  auto begin = std::chrono::steady_clock::now();
  Compiled out;
  out.options = options;
  plan::PlanOptions plan_options;
  plan_options.overlap = options.overlap;
  if (!options.board_name.empty()) {
    auto board = project::find_board(options.board_name, diags);
    if (!board) return kFailure;
    if (!board->is_generic())
      plan_options.target = project::target_of(*board, options.assembly);
    out.board = std::move(*board);
  }
  if (!options.cpu_name.empty()) {
    auto cpu = project::find_cpu(options.cpu_name, diags);
    if (!cpu) return kFailure;
    if (!cpu->is_generic()) plan_options.target = project::target_of(*cpu, options.assembly);
    if (!out.board) out.board = std::move(*cpu);
  }
  Contracts contracts = contracts_of(options);
  plan_options.inputs = contracts.inputs;
  plan_options.outputs = contracts.outputs;
  plan_options.target = target::for_level(plan_options.target, options.level);
  plan_options.target.prefer_ram = options.prefer_ram;
  plan_options.program_tables = plan_options.target.harvard && !options.constants_in_ram;
  if (plan_options.program_tables && !check_program_tables(options, diags)) return kFailure;
  plan_options.merge_at_least = plan::merge_at_least(options.level);
  if (!options.schedules_path.empty()) {
    auto schedules = load_schedules(options.schedules_path, diags);
    if (!schedules) return kFailure;
    out.options.schedules = std::move(*schedules);
  }
  plan_options.schedules = out.options.schedules;
  auto pools = parse_pools(options.pools, diags);
  if (!pools) return kFailure;
  plan_options.pools = std::move(*pools);
  if (!options.devices_path.empty() && options.devices_text.empty()) {
    auto text = read_file(options.devices_path, diags, 1 << 20);
    if (!text) return kFailure;
    out.options.devices_text.assign(text->begin(), text->end());
  }
  if (!out.options.devices_text.empty()) {
    auto devices = passes::parse_devices(out.options.devices_text, options.devices_path, diags);
    if (!devices) return kFailure;
    plan_options.devices = std::move(*devices);
    if (!check_device_pools(options, plan_options, diags)) return kFailure;
  }
  GivenOperators operators;
  auto graph = load_model(out.options, &out.model_bytes, &operators, diags);
  if (!graph) return kFailure;
  out.original = *graph;
  out.options.initial_values = operators.initial_values;
  if (!run_passes(*graph, options, plan_options.devices, out.statistics, diags)) return kFailure;
  auto program = plan::plan_program(std::move(*graph), plan_options, diags);
  if (!program) return kFailure;
  if (!check_structure(options, *program, diags)) return kFailure;
  auto dumped = [&](const char* what) {
    return std::any_of(options.dump_after.begin(), options.dump_after.end(),
                       [&](const std::string& name) { return name == "all" || name == what; });
  };
  if (dumped("tir")) print_err("; tir\n{}", plan::print_functions(*program));
  if (dumped("plan")) print_err("; plan\n{}", plan::print(*program));
  out.program = std::move(*program);
  out.plan_options = std::move(plan_options);
  std::string stem = std::filesystem::path(options.model_path).stem().string();
  out.prefix = c_identifier(options.prefix.empty() ? stem : options.prefix, "model");
  if (!check_symbols(out, diags)) return kFailure;
  codegen::CodegenOptions c;
  c.prefix = out.prefix;
  c.arena = options.arena;
  c.memory = options.memory;
  c.convention = options.convention;
  c.tvm_interface = options.tvm_interface;
  c.model_name = codegen::tvm_model_name(options.prefix.empty() ? stem : options.prefix);
  auto sections = parse_sections(options, diags);
  if (!sections) return kFailure;
  c.constants_sections = std::move(*sections);
  c.assembly = options.assembly;
  c.narrow_int = out.plan_options.target.narrow_int;
  c.register_externals = !operators.files.empty();
  c.version = kVersion;
  out.c = codegen::print_model(out.program, c);
  out.operator_workspace_bytes = operators.workspace_bytes;
  for (auto& [name, text] : operators.files) out.c.files["operators/" + name] = std::move(text);
  std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  out.milliseconds = took.count();
  return out;
}

project::ProjectModel project_model_of(const Compiled& compiled) {
  project::ProjectModel model;
  model.prefix = compiled.prefix;
  model.files = &compiled.c;
  ModelKind kind = kind_of(compiled.options.model_path, compiled.model_bytes);
  model.file_name = compiled.prefix + (kind == ModelKind::kArchive     ? ".tar"
                                       : kind == ModelKind::kGraphJson ? ".json"
                                                                       : ".tflite");
  model.bytes = &compiled.model_bytes;
  model.runtime = compiled.options.convention != codegen::CallingConvention::kPlain;
  for (const plan::ProgramFunction& f : compiled.program.functions)
    model.runtime = model.runtime || f.external;
  // The first that launches gets the board's second core.
  for (bool launches : {true, false})
    for (int d : codegen::context_devices(compiled.program)) {
      const passes::Device& device = compiled.program.devices[static_cast<size_t>(d)];
      if ((device.launch != passes::Launch::kNone) != launches) continue;
      model.devices.push_back(device.camel_name());
      model.runtime = true;
    }
  bool allocates = compiled.options.memory == codegen::MemoryMode::kWorkspace;
  model.workspace = allocates || compiled.operator_workspace_bytes > 0;
  model.workspace_bytes = compiled.operator_workspace_bytes +
                          (allocates ? figures_of(compiled).workspace_bytes : 0);
  model.description = describe_compile(compiled.options);
  if (compiled.options.convention != codegen::CallingConvention::kPlain)
    model.needs.push_back(name_of(compiled.options.convention));
  if (model.workspace) model.needs.push_back("workspace");
  if (!model.devices.empty()) model.needs.push_back("devices");
  if (!compiled.options.pools.empty()) model.needs.push_back("pools");
  if (compiled.options.tvm_interface) model.needs.push_back("interface");
  if (compiled.program.state_bytes > 0) model.needs.push_back("state");
  for (const plan::Pool& pool : compiled.program.pools)
    if (!compiled.options.pools.empty()) model.pools.push_back(pool.name);
  const std::string& sections = compiled.options.constants_section;
  model.tables_section = sections.substr(sections.rfind(',') + 1);  // NAME[:BYTES]
  model.tables_section.erase(std::min(model.tables_section.find(':'), model.tables_section.size()));
  model.title = c_comment_text(std::filesystem::path(compiled.options.model_path).filename().string());
  model.version = kVersion;
  model.arena_bytes = compiled.program.arena_bytes;
  // Without a measurement: what the run function and one operator with its loops take with ease.
  model.stack_bytes = 1024;
  model.layer_names = layer_names(compiled);
  return model;
}

Figures figures_of(const Compiled& compiled) {
  Figures f;
  const plan::Program& p = compiled.program;
  f.arena_bytes = p.arena_bytes;
  f.state_bytes = p.state_bytes;
  f.workspace_bytes = codegen::workspace_bytes(p);
  for (const plan::ProgramConstant& c : p.constants)
    f.constant_bytes += static_cast<int64_t>(c.data.bytes.size());
  std::set<graph::TensorId> seen;
  for (const graph::Op& op : p.graph.ops) {
    f.macs += ops::definition_of(op).macs({p.graph, op});
    for (graph::TensorId id : op.operands)
      if (p.graph.is_constant(id) && seen.insert(id).second)
        f.raw_constant_bytes += p.graph[id].type.bytes();
  }
  for (const graph::Port& port : p.graph.inputs) f.input_bytes += p.graph[port.tensor].type.bytes();
  for (const graph::Port& port : p.graph.outputs)
    f.output_bytes += p.graph[port.tensor].type.bytes();
  f.caller_bytes = (p.input_contract == plan::Contract::kPreserve ? f.input_bytes : 0) +
                   (p.output_contract == plan::Contract::kPreserve ? f.output_bytes : 0);
  return f;
}

}  // namespace aotc::driver
