// SPDX-License-Identifier: Apache-2.0
// check, compile, create, build, run. The others have files of their own.
#include "driver/commands.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driver/constants_for.h"
#include "driver/fit.h"
#include "driver/graph_model.h"
#include "driver/inputs.h"
#include "driver/project_dir.h"
#include "driver/self_test.h"
#include "driver/stack.h"
#include "driver/summary.h"
#include "ops/operator.h"
#include "project/generate.h"
#include "support/files.h"
#include "support/json.h"
#include "support/streams.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

// Nobody said what the code is for: what that costs is said. tests/cli measures it.
void note_of_any_cpu(const Compiled& c, const CommonOptions& common) {
  const plan::Program& p = c.program;
  const bool integer = std::any_of(p.graph.ops.begin(), p.graph.ops.end(), [&](const graph::Op& op) {
    return !op.results.empty() && p.graph[op.results[0]].type.dtype == DType::kI8 &&
           ops::definition_of(op).macs({p.graph, op}) > 0;
  });
  if (common.quiet || common.json || !integer || c.board) return;
  print_err(
      "{}: note: the C is for any CPU; on a Cortex-M4, C for the Cortex-M4 is more than twice as fast [any-cpu]\n"
      "  help: name the target with --cpu NAME or --board NAME; 'aotc cpus' and 'aotc boards' list the names\n",
      escape_for_display(c.options.model_path));
}

}  // namespace

int check_command(const CompileOptions& given, const CommonOptions& common) {
  Diagnostics diags;
  CompileOptions options = given;
  options.quiet = common.quiet || common.json;
  auto compiled = compile_model(options, diags);
  if (!compiled) return fail(diags);
  bool fits = check_fit(*compiled, diags);
  if (common.json) {
    print_out("{}\n", json_text(summary_json(*compiled), 1));
  } else {
    print_out("{}{}", summary_text(*compiled), live_text(*compiled));
  }
  if (!fits) return fail(diags);
  print_diagnostics(diags);
  note_of_any_cpu(*compiled, common);
  return kExitDone;
}

int compile_command(const CompileOptions& given, const std::string& out, bool force, const CommonOptions& common) {
  Diagnostics diags;
  CompileOptions options = given;
  options.quiet = common.quiet || common.json;
  auto compiled = compile_model(options, diags);
  if (!compiled) return fail(diags);
  OutputDirectory directory(out.empty() ? compiled->prefix : out, project::kManifest, force);
  bool operators = std::any_of(compiled->c.files.begin(), compiled->c.files.end(),
                               [](const auto& f) { return f.first.starts_with("operators/"); });
  const bool runtime = project_model_of(*compiled).runtime;
  if (!compiled->c.image.empty()) directory.add(compiled->options.constants_file, compiled->c.image);
  // Moved: the text of the tables is the largest thing in memory.
  for (auto& [name, text] : compiled->c.files) directory.add(name, std::move(text));
  nlohmann::ordered_json manifest = begin_manifest("model", compiled->prefix, compiled->options);
  if (!compiled->c.image.empty()) manifest["constants_file"] = constants_file_json(*compiled);
  manifest["summary"] = summary_json(*compiled);
  directory.add(project::kManifest, json_text(manifest, 1) + "\n");
  if (!directory.commit(diags)) return fail(diags);
  if (compiled->board)
    warn_of_fit(need_of(*compiled, *compiled->board), *compiled->board, compiled->options.model_path, diags);
  print_diagnostics(diags);
  note_of_any_cpu(*compiled, common);
  if (common.json) {
    print_out("{}\n", json_text(summary_json(*compiled), 1));
    return kExitDone;
  }
  print_out("{}", summary_text(*compiled));
  print_out("{}", price_of_open(*compiled));
  print_out("wrote {}/:", directory.path());
  for (const std::string& name : directory.names()) print_out(" {}", name);
  print_out("\nnext: add {0}.c{1}{0}_data.c{2} to your firmware and call {3}{0}_run from {0}.h\n", compiled->prefix,
            operators ? ", " : " and ",
            !operators ? ""
            : runtime  ? ", operators/*.c and the C runtime"
                       : " and operators/*.c",
            compiled->options.constants_file.empty()
                ? ""
                : fmt::format("{}_load with {}, then ", compiled->prefix, compiled->options.constants_file));
  return kExitDone;
}

namespace {

// The model is one that a project can keep.
bool check_project(const CompileOptions& options, const project::TemplateDescription& description,
                   const Compiled& compiled, Diagnostics& diags) {
  Location where;
  where.file = options.model_path;
  if (!description.model_file) return true;
  const ModelKind kind = kind_of(options.model_path, compiled.model_bytes);
  if (kind == ModelKind::kModel) return true;  // its operators lie beside it
  if (options.operators.empty() && options.params_path.empty() && kind != ModelKind::kGraphJson) return true;
  diags
      .error(where, "project-graph", "a project stores its model in one file, but this graph consists of several files")
      .help("give an archive with the graph, or write the C with 'aotc compile'");
  return false;
}

int64_t bytes_of(const std::vector<Sample>& samples) {
  int64_t bytes = 0;
  for (const Sample& s : samples)
    for (const auto& input : s) bytes += static_cast<int64_t>(input.size());
  return bytes;
}

// Bytes behind which 16-bit pointers into program memory do not reach tables and stored inputs; 0: none.
int64_t beyond_reach(const Compiled& c, int64_t samples) {
  const ops::TargetInfo& target = c.plan_options.target;
  if (!target.harvard || target.program_reach == 0) return 0;
  const int64_t tables = c.options.constants_in_ram ? 0 : figures_of(c).constant_bytes;
  constexpr int64_t kOfOthers = 2048;  // of what the target keeps for others, stored inputs may have this
  return std::max<int64_t>(0, tables + samples - target.program_reach - kOfOthers);
}

bool check_reach(const Compiled& c, int64_t samples, Diagnostics& diags) {
  const int64_t beyond = beyond_reach(c, samples);
  if (beyond == 0) return true;
  Location where;
  where.file = c.options.model_path;
  diags
      .error(
          where, "harvard-tables",
          fmt::format(
              "tables and stored inputs take {}, which is {} more than 16-bit pointers into program memory can address",
              format_bytes(samples), format_bytes(beyond)))
      .help("store fewer inputs with --samples, or choose a smaller model, or a board with a 32-bit CPU");
  return false;
}

// What the user chose of the firmware around the model. A stack that is no number is reported with
// the other options.
Firmware firmware_of(const ProjectChoice& choice) {
  constexpr int64_t kMostStack = int64_t{1} << 32;
  Firmware out;
  if (auto arena = choice.options.find("arena"); arena != choice.options.end()) out.arena = arena->second;
  if (auto stack = choice.options.find("stack_size"); stack != choice.options.end()) {
    const std::string& text = stack->second;
    int64_t bytes = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
    if (error == std::errc() && end == text.data() + text.size()) out.stack = std::min(bytes, kMostStack);
  }
  return out;
}

// A guess changes files of the project: that is said, as a compiler elsewhere makes other files. So
// is a stack that a run overflows.
void warn_of_stack(const StackNeed& stack, const Firmware& firmware, const project::TemplateDescription& description,
                   const Compiled& compiled, Diagnostics& diags) {
  if (stack.computed && firmware.stack >= 0 && firmware.stack < stack.bytes) {
    Location place;
    place.file = fmt::format("--project-option stack_size={}", firmware.stack);
    diags
        .warning(place, "stack-small",
                 fmt::format("a run of the model may need {} of stack, more than this size", format_bytes(stack.bytes)))
        .help("set a larger size: the caller of the model and interrupts need stack too");
  }
  bool used = std::any_of(description.keys.begin(), description.keys.end(),
                          [](const auto& key) { return key.name == "model_stack" || key.name == "thread_stack"; });
  if (stack.computed || !used) return;
  Location where;
  where.file = compiled.options.model_path;
  diags
      .warning(where, "stack-guess",
               fmt::format("the project reserves {} of stack, a guess: aotc could not compute a bound of the stack "
                           "with compiler '{}'",
                           format_bytes(stack.bytes), compiled.board->compiler))
      .help("install this compiler and create the project again, or measure the stack and set its size yourself");
}

// Inputs to store: those that were given, or random ones: two, if there is room for so many.
Result<std::vector<Sample>> stored_samples(const Compiled& compiled, const ProjectChoice& choice, Firmware firmware,
                                           Diagnostics& diags) {
  const graph::Graph& graph = compiled.program.graph;
  if (!choice.samples.empty()) return read_samples(graph, choice.samples, diags);
  std::vector<Sample> out = {random_sample(graph, 1), random_sample(graph, 2)};
  firmware.samples = bytes_of(out);
  const project::Board& board = *compiled.board;
  if (beyond_reach(compiled, firmware.samples) > 0 ||
      !fit_of(need_of(compiled, board, firmware), board, firmware.arena).flash)
    out.pop_back();
  return out;
}

Result<std::vector<std::string>> read_labels(const std::string& path, Diagnostics& diags) {
  std::vector<std::string> out;
  if (path.empty()) return out;
  auto bytes = read_file(path, diags, 1 << 20);
  if (!bytes) return kFailure;
  std::string line;
  for (uint8_t b : *bytes) {
    if (b == '\n') out.push_back(std::exchange(line, ""));
    else if (b != '\r') line += static_cast<char>(b);
  }
  if (!line.empty()) out.push_back(line);
  return out;
}

}  // namespace

// The next commands for a project, as far as its board and its kind have them.
static std::string next_step(const ProjectDir& made, bool built) {
  const std::string shown = shell_quoted(made.path);
  std::vector<std::string> steps;
  if (!built && made.builds()) steps.push_back("aotc build " + shown);
  if (made.has_image() && !made.board.emulator_argv.empty()) {
    steps.push_back("aotc run " + shown);
    if (built && made.can_verify()) steps.push_back("aotc verify " + shown);
  } else if (can_flash(made)) {
    steps.push_back("aotc flash " + shown + (made.manifest.contains("flash_port") ? " --port PORT" : ""));
    if (made.can_verify() && made.board.has_chip()) steps.push_back(fmt::format("aotc run {} --port PORT", shown));
  }
  if (steps.empty()) return fmt::format("next: see {}\n", (std::filesystem::path(made.path) / "README.md").string());
  return fmt::format("next: {}\n", joined(steps, " && "));
}

namespace {

std::string next_step(const std::string& path) {
  Diagnostics ignored;
  auto made = open_project(path, ignored);
  return made ? driver::next_step(*made, false) : "";
}

}  // namespace

// The kind of project that was asked for, or the one that the board is best served by. An unknown board is reported
// by who compiles for it.
static ProjectChoice with_kind(ProjectChoice choice, const std::string& board_name) {
  if (!choice.kind.empty()) return choice;
  Diagnostics said_later;
  auto board = board_name.empty() ? Result<project::Board>(kFailure) : project::find_board(board_name, said_later);
  choice.kind = board && !board->project.empty() ? board->project : "bare_metal";
  return choice;
}

// Pools and tables lie in memories that work, or that code of the user's sets up.
static bool check_memory_setup(const Compiled& c, const ProjectChoice& choice,
                               const project::TemplateDescription& description, Diagnostics& diags) {
  auto given = choice.options.find("memory_setup");
  if (!description.framework.empty() ||
      (given != choice.options.end() && (given->second == "true" || given->second == "1")))
    return true;
  Diagnostics checked_before;
  auto sections = parse_sections(c.options, checked_before);
  for (const project::Memory& m : c.board->memories) {
    if (m.setup.empty()) continue;
    bool used = false;
    for (const plan::Pool& pool : c.program.pools) used = used || pool.name == m.lower_name();
    if (sections)
      for (const plan::ConstantSection& s : *sections)
        for (const auto& [framework, name] : m.sections) used = used || s.name == name;
    if (!used) continue;
    Location where;
    where.file = c.options.model_path;
    project::report_memory_setup(where, *c.board, m, description, diags);
    return false;
  }
  return true;
}

int create_command(const CompileOptions& given, const ProjectChoice& chosen, const std::string& out, bool force,
                   const CommonOptions& common) {
  Diagnostics diags;
  CompileOptions options = given;
  options.quiet = common.quiet || common.json;
  const ProjectChoice choice = with_kind(chosen, options.board_name);
  auto description = project::read_description({choice.kind, choice.templates_dir}, diags);
  if (!description) return fail(diags);
  if (options.board_name.empty() && description->board_optional) options.board_name = project::kGenericBoard;
  if (options.board_name.empty()) {
    Location where;
    where.file = options.model_path;
    diags.error(where, "board-missing", "a project of this kind needs a board")
        .help("pass --board NAME; 'aotc boards' lists the boards");
    return fail(diags, kExitUsage);
  }
  if (!out.empty() && !check_project_path(out, diags)) return fail(diags, kExitUsage);
  auto compiled = compile_model(options, diags);
  if (!compiled) return fail(diags);
  if (out.empty() && !check_project_path(compiled->prefix + "_app", diags)) return fail(diags, kExitUsage);
  compiled->board->limit_to(description->framework);
  if (!check_memory_setup(*compiled, choice, *description, diags)) return fail(diags);
  Firmware firmware = firmware_of(choice);
  firmware.framework = description->framework;
  firmware.keeps_input =
      compiled->program.feeding && !description->verify;  // main.c that can verify is what feeds rows
  auto samples = stored_samples(*compiled, choice, firmware, diags);
  if (!samples) return fail(diags);
  firmware.samples = bytes_of(*samples);
  if (!check_fit(*compiled, diags, firmware)) return fail(diags);
  if (!check_reach(*compiled, firmware.samples, diags)) return fail(diags, kExitDoesNotFit);
  if (!check_project(options, *description, *compiled, diags)) return fail(diags, kExitUsage);
  project::ProjectOptions project;
  project.source = {choice.kind, choice.templates_dir};
  project.options = choice.options;
  project.licence = choice.licence;
  auto labels = read_labels(choice.labels, diags);
  if (!labels) return fail(diags);
  project.labels = std::move(*labels);
  for (const Sample& s : *samples) {
    std::vector<uint8_t> flat;
    for (const auto& input : s) flat.insert(flat.end(), input.begin(), input.end());
    project.samples.push_back(std::move(flat));
  }
  project::ProjectModel model = project_model_of(*compiled);
  model.summary = summary_json(*compiled);
  model.arena_memory = arena_memory(*compiled, firmware);
  const StackNeed stack = stack_need(*compiled);
  model.stack_bytes = stack.bytes;
  warn_of_stack(stack, firmware, *description, *compiled, diags);
  if (!samples->empty()) model.checks = layer_checks(*compiled, samples->front());
  std::string path = out.empty() ? compiled->prefix + "_app" : out;
  // Behind a slash at the end there is an empty name.
  std::filesystem::path folder = std::filesystem::weakly_canonical(path);
  project.folder = (folder.has_filename() ? folder : folder.parent_path()).filename().string();
  OutputDirectory directory(path, project::kManifest, force);
  if (!project::generate_project(*description, *compiled->board, model, project, directory, diags) ||
      !directory.commit(diags))
    return fail(diags);
  print_diagnostics(diags);
  if (common.json) {
    auto j = summary_json(*compiled, &stack);
    j["project"] = path;
    print_out("{}\n", json_text(j, 1));
    return kExitDone;
  }
  print_out("{}wrote {}/ ({} files)\n{}", summary_text(*compiled, &stack),
            path.ends_with('/') ? path.substr(0, path.size() - 1) : path, directory.names().size(), next_step(path));
  return kExitDone;
}

int build_command(const std::string& dir, bool fit, const CommonOptions& common) {
  Diagnostics diags;
  auto project = open_project(dir, diags);
  if (!project) return fail(diags);
  int code = build_project(*project, common.quiet, diags);
  if (code != kExitDone) return fail(diags, code);
  auto stack = stack_of_firmware(*project);
  if (fit) code = fit_stack(*project, common.quiet, stack, diags);
  if (code != kExitDone) return fail(diags, code);
  if (stack && stack->firmware && stack->state() != "unbounded" && !stack->fits()) {
    Location where;
    where.file = dir;
    diags
        .warning(where, "stack-small",
                 fmt::format("the firmware may need {} of stack, but only {} are reserved",
                             format_bytes(stack->firmware_bytes), format_bytes(stack->reserved)))
        .help("'aotc build --fit-stack' reserves enough stack");
  }
  if (stack && stack->firmware && stack->state() == "unbounded" && stack->fitted) {
    Location where;
    where.file = dir;
    diags
        .warning(
            where, "stack-small",
            fmt::format(
                "the stack of the firmware no longer has a bound; {} are still reserved, from an earlier --fit-stack",
                format_bytes(stack->reserved)))
        .help("'aotc analyze stack " + shell_quoted(project->image()) +
              "' names the obstacles; 'cmake -DAOTC_STACK_SIZE=16384 " + shell_quoted(dir + "/build") +
              "' reserves more");
  }
  print_diagnostics(diags);
  auto size = model_size(*project);
  if (common.json) {
    nlohmann::ordered_json j;
    if (project->has_image()) j["image"] = project->image();
    if (size) {
      j["code_bytes"] = size->code;
      j["constants_bytes"] = size->constants;
    }
    if (stack) j["stack"] = stack_json(*stack);
    print_out("{}\n", json_text(j, 1));
  } else if (size) {
    print_out("model: code {}, constants {}\n{}{}", format_bytes(size->code), format_bytes(size->constants),
              stack ? stack_text(*stack) : "", driver::next_step(*project, true));
  }
  return kExitDone;
}

int run_command(const std::string& dir, const PortChoice& port, int timeout, const CommonOptions& common) {
  Diagnostics diags;
  auto project = open_project(dir, diags);
  if (!project) return fail(diags);
  const bool on_board = !port.port.empty();
  const ProjectDir emulated = in_emulator(*project);
  if (!on_board && emulated.image() != project->image())
    if (int code = build_project(emulated, true, diags); code != kExitDone) return fail(diags, code);
  auto run = on_board ? run_on_port(*project, port, PortMode::kDemo, "", "", 0, timeout, diags)
                      : run_firmware(emulated, {}, timeout, diags);
  if (!run) return fail(diags, kExitDevice);
  save_run(*project, *run);
  if (common.json) {
    nlohmann::ordered_json j = run->values;
    if (j.is_null()) j = nlohmann::ordered_json::object();
    j["op_ticks"] = run->op_ticks;
    j["output"] = run->process.output;
    j["exit_code"] = run->process.exit_code;
    if (project->board.stand_in && !on_board) j["stand_in"] = true;
    print_out("{}\n", json_text(j, 1));
  } else {
    std::string text = run->process.output;
    for (size_t i = 0; i < text.size();) {
      size_t end = std::min(text.find('\n', i), text.size());
      std::string line = text.substr(i, end - i);
      if (!line.starts_with("@aotc")) print_out("{}\n", line);
      i = end + 1;
    }
    if (project->board.stand_in && !on_board)
      print_out("emulated on a different board with the same core; times are not comparable\n");
  }
  if (run->process.exit_code == 0) return kExitDone;
  Location where;
  where.file = dir;
  diags.error(where, "device-failed", fmt::format("the firmware ended with exit code {}", run->process.exit_code))
      .help(project->can_verify()
                ? "'aotc verify' names the first layer that differs"
                : "the output of the firmware's self test, above, names the first layer that differs");
  return fail(diags, kExitDevice);
}

}  // namespace aotc::driver
