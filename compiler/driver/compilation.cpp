// SPDX-License-Identifier: Apache-2.0
#include "driver/compilation.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "codegen/c_run.h"
#include "codegen/c_tvm.h"
#include "codegen/rust_interface.h"
#include "cores/cpu.h"
#include "driver/budget.h"
#include "driver/compile_checks.h"
#include "driver/estimate.h"
#include "driver/graph_model.h"
#include "driver/input_options.h"
#include "driver/project_dir.h"
#include "driver/schedules.h"
#include "driver/self_test.h"
#include "driver/slices.h"
#include "frontends/foreign.h"
#include "frontends/frontend.h"
#include "ops/operator.h"
#include "passes/devices.h"
#include "passes/pipeline.h"
#include "plan/executions.h"
#include "plan/text.h"
#include "project/cpus.h"
#include "support/files.h"
#include "support/streams.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

// What was asked for and the format has not.
Status check_format(const frontends::Frontend* format, const CompileOptions& options, Diagnostics& diags) {
  const bool any = format == nullptr;
  struct Given {
    bool given, taken;
    const char* name;
  };
  for (const Given& o : {Given{!options.operators.empty(), any || format->custom_operators, "--operators"},
                         Given{!options.signature.empty(), any || format->signatures, "--signature"}})
    if (o.given && !o.taken)
      return conflicting(options.model_path, fmt::format("{} does not apply to {} models", o.name, format->title),
                         "omit this option", diags);
  if ((any || !format->values) && (!options.dimensions.empty() || !options.values.empty()))
    return conflicting(options.model_path, "--dim and --value apply only to ONNX models", "omit these options", diags);
  if ((any || !format->values) && options.literal_rounding)
    return conflicting(options.model_path, "--rounding applies only to ONNX models", "omit this option", diags);
  if ((any || !format->values) && options.images_last)
    return conflicting(options.model_path, "--input-layout applies only to ONNX models", "omit this option", diags);
  return success();
}

}  // namespace

Result<graph::Graph> load_model(const CompileOptions& options, FileBytes* bytes, GivenOperators* operators,
                                Diagnostics& diags) {
  if (auto foreign = frontends::recognise_foreign_folder(options.model_path)) {
    Location where;
    where.file = options.model_path;
    frontends::report_foreign(diags, where, *foreign);
    return kFailure;
  }
  auto read = map_file(options.model_path, diags);
  if (!read) return kFailure;
  if (bytes) *bytes = *read;
  InitialValues own = options.initial_values;
  if (operators) operators->initial_values = own;
  if (!check_format(frontends::recognise(*read), options, diags)) return kFailure;
  ModelKind kind = kind_of(options.model_path, *read);
  if (kind != ModelKind::kModel) {
    if (!options.shapes.empty())
      return conflicting(options.model_path,
                         "--shape applies only to .tflite and .onnx models; TVM graphs have fixed shapes",
                         "omit this option", diags);
    auto model = load_graph_model(kind, {read->begin(), read->end()}, options, diags);
    if (!model) return kFailure;
    if (operators) {
      model->operators.initial_values = std::move(operators->initial_values);
      *operators = std::move(model->operators);
    }
    InitialValues& initial_values = operators ? operators->initial_values : own;
    if (!pair_states(model->graph, options.states, initial_values, diags)) return kFailure;
    return std::move(model->graph);
  }
  if (!options.params_path.empty())
    return conflicting(options.model_path, "--params applies only to TVM graphs", "omit this option", diags);
  GivenModelOperators given;
  if (!options.operators.empty()) {
    auto loaded = load_given_operators(options, diags);
    if (!loaded) return kFailure;
    given = std::move(*loaded);
  }
  auto shapes = parse_input_shapes(options.shapes, diags);
  auto dimensions = parse_dimensions(options.dimensions, diags);
  auto values = parse_input_values(options.values, diags);
  if (!shapes || !dimensions || !values) return kFailure;
  frontends::ReadOptions read_options;
  read_options.signature = options.signature;
  read_options.shapes = std::move(*shapes);
  read_options.dimensions = std::move(*dimensions);
  read_options.values = std::move(*values);
  read_options.literal_rounding = options.literal_rounding;
  read_options.images_last = options.images_last;
  read_options.given = &given.operators;
  if (operators) read_options.files = &operators->model_files;
  auto graph = frontends::read_model(std::move(*read), options.model_path, diags, read_options);
  if (!graph || !bind_given_operators(*graph, given, diags)) return kFailure;
  if (operators) operators->files = std::move(given.files);
  // The reader has asked every operator.
  InitialValues& initial_values = operators ? operators->initial_values : own;
  if (!pair_states(*graph, options.states, initial_values, diags) || !graph::verify_structure(*graph, diags))
    return kFailure;
  return graph;
}

const char* name_of(ops::Level level) {
  return level == ops::Level::kSize ? "size" : level == ops::Level::kSpeed ? "speed" : "balanced";
}

// PREFIX.h is found before the C library's headers, so it is not called as one of them; PREFIX::app is a target of
// CMake.
std::string prefix_of(const std::string& name) {
  static constexpr std::string_view kHeaders[] = {
      "alloca",  "app",       "arduino", "assert", "complex", "ctype",  "endian",   "features", "fenv",    "inttypes",
      "iso646",  "limits",    "locale",  "math",   "memory",  "newlib", "picolibc", "setjmp",   "signal",  "stdalign",
      "stdarg",  "stdatomic", "stdbool", "stddef", "stdint",  "stdio",  "stdlib",   "string",   "strings", "tgmath",
      "threads", "time",      "uchar",   "unistd", "wchar",   "wctype", "zephyr"};
  std::string prefix = c_identifier(name, "model");
  if (std::find(std::begin(kHeaders), std::end(kHeaders), prefix) != std::end(kHeaders)) prefix += '_';
  return prefix;
}

namespace {

void print_time(std::string_view pass, std::chrono::nanoseconds time) {
  print_err("{:>10.3f} ms  {}\n", static_cast<double>(time.count()) / 1e6, pass);
}

Status run_passes(graph::Graph& graph, const CompileOptions& options, const passes::DeviceSet& devices,
                  passes::PassStatistics& statistics, Diagnostics& diags) {
  passes::RunOptions run;
  run.passes.devices = &devices;
  run.passes.strip_boundary_float = options.strip_boundary_float;
  run.passes.keep_dead_channels = options.keep_dead_channels || options.constants_open;
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
    for (const std::string& near : closest(name, names)) d.help(fmt::format("did you mean '{}'?", near));
    d.help("'aotc-opt --list-passes' lists all passes");
    return kFailure;
  }
  run.after = [&](const passes::Pass& pass, const graph::Graph& g) {
    if (!dump.contains("all") && !dump.contains(pass.name)) return;
    print_err("; after {}\n{}", pass.name, graph::print(g, 256));
  };
  if (options.time_passes)
    run.timed = [](const passes::Pass& pass, std::chrono::nanoseconds t) { print_time(pass.name, t); };
  return passes::run_pipeline(graph, run, diags);
}

// What begins with the prefix is the model's own: functions of the user's must not be called so.
Status check_symbols(const Compiled& c, Diagnostics& diags) {
  for (const plan::ProgramFunction& f : c.program.functions) {
    if (!f.external) continue;
    const plan::ProgramCall& call = c.program.calls[static_cast<size_t>(f.calls[0])];
    const Location& where = c.program.graph.ops[static_cast<size_t>(call.op_index)].location;
    const passes::Device& device = c.program.device_of(f.device);
    if (device.launch != passes::Launch::kNone && f.external->convention != CallingConvention::kPacked) {
      diags
          .error(where, "operator-signature",
                 fmt::format("device '{}' launches packed functions, but '{}' is not a packed function", device.name,
                             f.external->symbol))
          .help("give the function TVM's packed signature, or set \"launch\": \"none\" for the device");
      return kFailure;
    }
    if (codegen::is_taken(f.external->symbol, c.program, !c.options.slice.empty())) {
      diags
          .error(where, "operator-name",
                 fmt::format("the name of function '{}' collides with a name in the emitted code", f.external->symbol))
          .help("give the function another name");
      return kFailure;
    }
    if (!f.external->symbol.starts_with(c.prefix + "_")) continue;
    diags
        .error(
            where, "operator-name",
            fmt::format("the name of function '{}' begins with the model's prefix '{}_'", f.external->symbol, c.prefix))
        .help("choose another prefix with --prefix");
    return kFailure;
  }
  return success();
}

// The core that the code is for; notes the board.
Status choose_target(const CompileOptions& options, Compiled& out, plan::PlanOptions& plan_options,
                     Diagnostics& diags) {
  if (!options.board_name.empty()) {
    auto board = project::find_board(options.board_name, diags);
    if (!board) return kFailure;
    if (!board->is_generic()) plan_options.target = project::target_of(*board, options.kernels);
    out.board = std::move(*board);
  }
  if (!options.cpu_name.empty()) {
    auto cpu = project::find_cpu(options.cpu_name, diags);
    if (!cpu) return kFailure;
    if (!cpu->is_generic()) plan_options.target = project::target_of(*cpu, options.kernels);
    if (!out.board) out.board = std::move(*cpu);
  }
  plan_options.target = cores::for_goal(plan_options.target, options);
  plan_options.target.instructions_per_byte = options.instructions_per_byte;
  plan_options.program_tables = plan_options.target.harvard && !options.constants_in_ram;
  return plan_options.program_tables ? check_program_tables(options, diags) : success();
}

// Schedules, pools and devices, from the files that the options name.
Status read_plan_files(const CompileOptions& options, Compiled& out, plan::PlanOptions& plan_options,
                       Diagnostics& diags) {
  if (!options.schedules_path.empty()) {
    auto schedules = load_schedules(options.schedules_path, diags);
    if (!schedules) return kFailure;
    out.options.schedules = std::move(schedules->operators);
    out.options.arrangement = std::move(schedules->arrangement);
  }
  plan_options.schedules = out.options.schedules;
  if (!options.ignores_arrangement) plan_options.arrangement = out.options.arrangement;
  auto pools = parse_pools(options.pools, diags);
  if (!pools) return kFailure;
  plan_options.pools = std::move(*pools);
  if (!options.constants_file.empty()) {
    plan_options.pools = {plan::Pool{"arena"}, plan::Pool{.name = "constants", .constants = true}};
    plan_options.constants_apart = true;
  }
  if (!options.devices_path.empty() && options.devices_text.empty()) {
    auto text = read_file(options.devices_path, diags, 1 << 20);
    if (!text) return kFailure;
    out.options.devices_text.assign(text->begin(), text->end());
  }
  if (out.options.devices_text.empty()) return success();
  auto devices = passes::parse_devices(out.options.devices_text, options.devices_path, diags);
  if (!devices) return kFailure;
  plan_options.devices = std::move(*devices);
  return check_device_pools(options, plan_options, diags);
}

Status choose_plan(const CompileOptions& options, Compiled& out, plan::PlanOptions& plan_options, Diagnostics& diags) {
  plan_options.overlap = options.overlap;
  Contracts contracts = contracts_of(options);
  plan_options.inputs = contracts.inputs;
  plan_options.outputs = contracts.outputs;
  plan_options.stream = options.stream;
  plan_options.feed = options.feed;
  if (options.time_passes)
    plan_options.timed = [](const plan::PlanPass& pass, std::chrono::nanoseconds t) { print_time(pass.name, t); };
  plan_options.merge_at_least = plan::merge_at_least(options.level);
  // Loops and pieces of tensors have offsets, which blocks of a workspace have not.
  plan_options.repeats = options.level != ops::Level::kSpeed && !options.constants_open &&
                         options.memory != codegen::MemoryMode::kWorkspace;
  if (!choose_target(options, out, plan_options, diags)) return kFailure;
  return read_plan_files(options, out, plan_options, diags);
}

void dump_program(const CompileOptions& options, const plan::Program& program) {
  auto dumped = [&](const char* what) {
    return std::any_of(options.dump_after.begin(), options.dump_after.end(),
                       [&](const std::string& name) { return name == "all" || name == what; });
  };
  if (dumped("tir")) print_err("; tir\n{}", plan::print_functions(program));
  if (dumped("plan")) print_err("; plan\n{}", plan::print(program, {.functions = false, .constants_limit = 0}));
}

// What is said of the C besides the program.
Result<codegen::CodegenOptions> choose_code(const Compiled& out, const std::string& stem, Diagnostics& diags) {
  const CompileOptions& options = out.options;
  codegen::CodegenOptions c;
  c.prefix = out.prefix;
  c.arena = options.arena;
  c.memory = options.memory;
  c.convention = options.convention;
  c.slices = !options.slice.empty();
  if (const auto longest = longest_slice_of(out)) c.longest_slice = longest->instructions;
  if (const auto feed = longest_feed_of(out)) {
    c.longest_feed = feed->instructions;
    c.longest_feed_row = feed->row;
  }
  c.cost_model = out.plan_options.target.name;
  c.tvm_interface = options.tvm_interface;
  c.model_name = codegen::tvm_model_name(options.prefix.empty() ? stem : options.prefix);
  auto sections = parse_sections(options, diags);
  if (!sections) return kFailure;
  c.constants_sections = std::move(*sections);
  c.constants_image = !options.constants_file.empty();
  if (!options.constants_address.empty()) c.constants_address = parse_address(options, diags).value_or(0);
  c.kernels = options.kernels;
  c.narrow_int = out.plan_options.target.narrow_int;
  c.version = kVersion;
  return c;
}

// The files of the user's operators go where the C is.
void add_operators(GivenOperators& operators, Compiled& out) {
  out.operator_workspace_bytes = operators.workspace_bytes;
  const bool kept = kind_of(out.options.model_path, out.model_bytes) == ModelKind::kModel;
  for (auto& [name, text] : operators.files) {
    if (kept && (name.ends_with(".c") || name.ends_with(".json")))
      out.options.kept_operators.push_back("operators/" + name);
    out.c.files["operators/" + name] = std::move(text);
  }
}

Result<Compiled> plan_checked(const CompileOptions& options, codegen::CodegenOptions& code_options,
                              GivenOperators& operators, Diagnostics& diags) {
  if (!check_options(options, diags)) return kFailure;
  Compiled out;
  out.options = options;
  plan::PlanOptions plan_options;
  if (!choose_plan(options, out, plan_options, diags)) return kFailure;
  auto graph = load_model(out.options, &out.model_bytes, &operators, diags);
  if (!graph) return kFailure;
  graph->open_constants = options.constants_open;
  out.original = *graph;
  out.model_files = std::move(operators.model_files);
  out.options.initial_values = operators.initial_values;
  if (!run_passes(*graph, options, plan_options.devices, out.statistics, diags)) return kFailure;
  auto plan = plan_in_slices(std::move(*graph), out.options, plan_options, diags);
  if (!plan) return kFailure;
  out.program = std::move(plan->program);
  out.instructions = std::move(plan->instructions);
  out.more_arena = plan->more_arena;
  if (!check_structure(options, out.program, diags)) return kFailure;
  dump_program(options, out.program);
  out.plan_options = std::move(plan_options);
  std::string stem = std::filesystem::path(options.model_path).stem().string();
  out.prefix = prefix_of(options.prefix.empty() ? stem : options.prefix);
  if (!check_symbols(out, diags)) return kFailure;
  auto code = choose_code(out, stem, diags);
  if (!code) return kFailure;
  code->bands = std::move(plan->bands);
  code->register_externals = !operators.files.empty();
  code_options = std::move(*code);
  return out;
}

Result<Compiled> compile_checked(const CompileOptions& options, Diagnostics& diags) {
  auto begin = std::chrono::steady_clock::now();
  codegen::CodegenOptions code;
  GivenOperators operators;
  auto planned = plan_checked(options, code, operators, diags);
  if (!planned) return kFailure;
  planned->c = codegen::print_model(planned->program, code);
  add_operators(operators, *planned);
  if (!check_mapped_files(diags)) return kFailure;
  std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  planned->milliseconds = took.count();
  return planned;
}

// Bytes of the weights in the model: constants that operators read, and a float for each scale of a channel.
int64_t weight_bytes_of(const Compiled& c) {
  int64_t scales = 0;
  std::set<graph::TensorId> seen;
  for (const graph::Op& op : c.program.graph.ops)
    for (graph::TensorId id : op.operands)
      if (c.program.graph.is_constant(id) && seen.insert(id).second)
        scales += std::ssize(c.program.graph[id].type.quantization.scale);
  return figures_of(c).raw_constant_bytes + scales * static_cast<int64_t>(sizeof(float));
}

// Bytes by which the tables of a default plan are too large for its weights. On a board, they may take half of the
// flash, with the code.
int64_t excess_of_tables(const Compiled& c) {
  constexpr double kMostOfWeights = 1.25, kMostOfFlash = 0.5;
  if (c.options.level == ops::Level::kSpeed) return 0;
  const int64_t constants = figures_of(c).constant_bytes;
  const int64_t excess = constants - static_cast<int64_t>(kMostOfWeights * static_cast<double>(weight_bytes_of(c)));
  const int64_t flash = c.board ? c.board->memory_bytes("constants") : 0;
  if (excess <= 0 || flash <= 0) return excess;
  const int64_t firmware = constants + code_of_firmware(c.c.files, *c.board);
  return static_cast<double>(firmware) <= kMostOfFlash * static_cast<double>(flash) ? 0 : excess;
}

// The least price of a byte for which the calls that buy flash take so many bytes less. 0: they do not take so many.
double price_for(const Compiled& c, double fewer_bytes) {
  std::vector<std::pair<double, double>> bought;  // instructions that a byte saves, and the bytes
  for (const plan::ProgramCall& call : c.program.calls)
    if (const ops::Schedule& s = call.schedule; s.more_bytes > 0 && s.saved_instructions > 0)
      bought.emplace_back(s.saved_instructions / s.more_bytes, s.more_bytes);
  std::sort(bought.begin(), bought.end());
  for (const auto& [price, bytes] : bought)
    if ((fewer_bytes -= bytes) <= 0) return price;
  return 0;
}

// The model with a higher price of a byte, so that its tables are no longer large; unchanged if no price is enough.
Result<Compiled> with_smaller_tables(Result<Compiled> usual) {
  constexpr int kMostTimes = 4;  // another way of an operator may buy flash, too
  std::optional<Compiled> next;
  for (int i = 0; i < kMostTimes; ++i) {
    const Compiled& now = next ? *next : *usual;
    CompileOptions options = usual->options;
    options.instructions_per_byte = price_for(now, static_cast<double>(excess_of_tables(now)));
    Diagnostics repeated;  // the first compilation has reported it
    if (options.instructions_per_byte <= 0) break;
    auto other = compile_checked(options, repeated);
    if (!other) break;
    other->milliseconds += now.milliseconds;
    next = std::move(*other);
    if (excess_of_tables(*next) <= 0) return std::move(*next);
  }
  return usual;
}

std::string text_of(const plan::Arrangement& arrangement) {
  const std::string text = arrangement.text();
  return text.empty() ? "the model's order, nothing row by row" : text;
}

// --stream beside an arrangement in a file is redundant if the search finds the same one, and otherwise contradicts it.
Status check_stream(const CompileOptions& options, const Compiled& compiled, Diagnostics& diags) {
  const std::optional<plan::Arrangement>& arrangement = compiled.options.arrangement;
  if (options.schedules_path.empty() || !arrangement || options.ignores_arrangement ||
      !options.given.contains("--stream") || options.stream.mode == plan::Stream::kTime)
    return success();
  CompileOptions without = options;
  without.schedules_path.clear();
  without.dump_after.clear();
  without.time_passes = false;
  Diagnostics unreported;
  const auto searched = compile_model(without, unreported);
  if (!searched || searched->program.schedule.arrangement == *arrangement) return success();
  return conflicting(options.schedules_path,
                     fmt::format("--stream gives another arrangement than this file: {}; the file has: {}",
                                 text_of(searched->program.schedule.arrangement), text_of(*arrangement)),
                     "omit --stream, which the arrangement of the file replaces, or remove 'arrangement' from the file",
                     diags);
}

// Whoever is refused is told why, also where a check of ours forgot to.
Result<Compiled> with_reason(Result<Compiled> compiled, const CompileOptions& options, Diagnostics& diags) {
  if (!compiled && diags.error_count() == 0) {
    Location where;
    where.file = options.model_path;
    diags.error(where, "internal", "the model was refused without a reason").help("please report this with the model");
  }
  return compiled;
}

}  // namespace

CompileOptions with_variant(const CompileOptions& options, const VariantOptions& variant) {
  CompileOptions out = options;
  if (variant != static_cast<const VariantOptions&>(options)) out.ignores_arrangement = true;
  static_cast<VariantOptions&>(out) = variant;
  return out;
}

Result<Compiled> compile_model(const CompileOptions& options, Diagnostics& diags) {
  if (has_budget(options)) return compile_in_budget(options, diags);
  auto compiled = with_reason(compile_checked(options, diags), options, diags);
  if (compiled && !check_stream(options, *compiled, diags)) return kFailure;
  // Whoever names schedules has decided.
  if (!compiled || !compiled->options.schedules.empty() || excess_of_tables(*compiled) <= 0) return compiled;
  return with_smaller_tables(std::move(compiled));
}

Result<Compiled> plan_model(const CompileOptions& options, codegen::CodegenOptions& code, Diagnostics& diags) {
  GivenOperators operators;
  auto planned = with_reason(plan_checked(options, code, operators, diags), options, diags);
  if (!planned || !check_mapped_files(diags)) return kFailure;
  return planned;
}

namespace {

// Operators of TVM's may call its C runtime; those of a .tflite model's author need none, unless called as TVM does.
bool needs_runtime(const plan::ProgramFunction& f, ModelKind kind) {
  if (!f.external) return false;
  return kind != ModelKind::kModel || f.external->context || f.external->convention == CallingConvention::kPacked;
}

std::string extension_of(ModelKind kind, std::span<const uint8_t> bytes) {
  if (kind == ModelKind::kArchive) return ".tar";
  if (kind == ModelKind::kGraphJson) return ".json";
  const frontends::Frontend* frontend = frontends::recognise(bytes);
  return frontend == nullptr ? "" : std::string(frontend->extension);
}

}  // namespace

project::ProjectModel project_model_of(const Compiled& compiled) {
  project::ProjectModel model;
  model.prefix = compiled.prefix;
  model.graph = &compiled.program.graph;
  model.files = &compiled.c;
  ModelKind kind = kind_of(compiled.options.model_path, compiled.model_bytes);
  model.file_name = compiled.prefix + extension_of(kind, compiled.model_bytes);
  model.rust_interface = codegen::rust_interface(compiled.program, compiled.prefix, compiled.c);
  model.bytes = &compiled.model_bytes;
  model.beside = &compiled.model_files;
  model.runtime = compiled.options.convention != CallingConvention::kPlain;
  for (const plan::ProgramFunction& f : compiled.program.functions)
    model.runtime = model.runtime || needs_runtime(f, kind);
  // The first that launches gets the board's second core.
  for (bool launches : {true, false})
    for (int d : codegen::context_devices(compiled.program)) {
      const passes::Device& device = compiled.program.device_of(d);
      if ((device.launch != passes::Launch::kNone) != launches) continue;
      model.devices.push_back(device.camel_name());
      model.runtime = true;
    }
  bool allocates = compiled.options.memory == codegen::MemoryMode::kWorkspace;
  model.workspace = allocates || compiled.operator_workspace_bytes > 0;
  model.workspace_bytes = compiled.operator_workspace_bytes + (allocates ? figures_of(compiled).workspace_bytes : 0);
  model.description = describe_compile(compiled.options);
  if (compiled.options.convention != CallingConvention::kPlain)
    model.needs.emplace_back(name_of(compiled.options.convention));
  if (model.workspace) model.needs.push_back("workspace");
  if (!model.devices.empty()) model.needs.push_back("devices");
  if (!compiled.options.pools.empty()) model.needs.push_back("pools");
  if (compiled.options.tvm_interface) model.needs.push_back("interface");
  if (compiled.program.state_bytes > 0) model.needs.push_back("state");
  if (compiled.program.feeding) model.needs.push_back("rows");
  if (!compiled.options.kept_operators.empty()) model.needs.push_back("operators");
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
  for (const plan::ProgramConstant& c : p.constants) f.constant_bytes += static_cast<int64_t>(c.data.bytes.size());
  f.constant_bytes += compiled.c.loop_table_bytes;
  f.macs = plan::macs_of(p.reference());
  std::set<graph::TensorId> seen;
  for (const graph::Op& op : p.graph.ops) {
    for (graph::TensorId id : op.operands)
      if (p.graph.is_constant(id) && seen.insert(id).second) f.raw_constant_bytes += p.graph[id].type.bytes();
  }
  for (const graph::Port& port : p.graph.inputs) f.input_bytes += p.graph[port.tensor].type.bytes();
  for (const graph::Port& port : p.graph.outputs) f.output_bytes += p.graph[port.tensor].type.bytes();
  // An image that is fed is nowhere as a whole.
  f.caller_bytes = (p.input_contract == plan::Contract::kPreserve && !p.feeding ? f.input_bytes : 0) +
                   (p.output_contract == plan::Contract::kPreserve ? f.output_bytes : 0);
  return f;
}

}  // namespace aotc::driver
