// SPDX-License-Identifier: Apache-2.0
// analyze cycles: a linked program runs in its board's emulator, and what ran costs what the core's
// documents say.
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cores/cpu.h"
#include "driver/analyzer.h"
#include "driver/commands.h"
#include "driver/counted_cycles.h"
#include "driver/project_dir.h"
#include "driver/temporary.h"
#include "machine/commands.h"
#include "machine/objdump.h"
#include "machine/stack.h"
#include "project/generate.h"
#include "support/files.h"
#include "support/json.h"
#include "support/process.h"
#include "support/streams.h"
#include "support/text.h"

namespace aotc::driver {

namespace fs = std::filesystem;

namespace {

constexpr size_t kShownRows = 16;

struct CycleOptions {
  std::string file, board, cpu, root, model, objdump;
  int64_t call = 1;
  int timeout = 600;
  bool json = false, all = false;
};

// The project whose firmware the file is, if it is one's.
std::optional<ProjectDir> project_around(const std::string& file) {
  std::error_code ec;
  const fs::path image = fs::weakly_canonical(file, ec);
  for (fs::path folder = image.parent_path(); folder.has_relative_path(); folder = folder.parent_path()) {
    if (!fs::exists(folder / project::kManifest, ec)) continue;
    Diagnostics ignored;
    auto project = open_project(folder.string(), ignored);
    if (project && project->has_image() && fs::weakly_canonical(project->image(), ec) == image) return *project;
    return std::nullopt;
  }
  return std::nullopt;
}

// What the user named, else what the project has.
struct Subject {
  machine::Elf elf;
  project::Board board;
  std::string cpu;
  const machine::Timing* timing = nullptr;
  machine::ModelFunctions model;
  uint32_t root = 0;
  std::optional<ProjectDir> project;
};

Result<project::Board> board_for(const CycleOptions& o, const std::optional<ProjectDir>& project, Diagnostics& diags) {
  if (!o.board.empty()) return project::find_board(o.board, diags);
  if (project) return project->board;
  Location where;
  where.file = o.file;
  diags.error(where, "board-missing", "the program is not in a project, so its board is unknown")
      .help("name the board with --board; 'aotc boards' lists the boards");
  return kFailure;
}

Status find_timing(const CycleOptions& o, Subject& s, Diagnostics& diags) {
  s.cpu = o.cpu.empty() ? s.board.cpu : o.cpu;
  s.timing = cores::timing_of(s.cpu);
  if (s.timing != nullptr) return success();
  Location where;
  where.file = o.file;
  diags.error(where, "cycles-unknown", fmt::format("aotc has no cycle costs for CPU '{}'", escape_for_display(s.cpu)))
      .help("name one of these CPUs with --cpu: " + joined(cores::timed_cpus(), ", "));
  return kFailure;
}

// The map of the model's functions beside the project's C.
std::string map_of(const ProjectDir& project) {
  const std::string name = project.manifest.value("prefix", "") + ".map.json";
  std::error_code ec;
  for (const fs::path& folder : {fs::path(project.path) / "model", fs::path(project.path)})
    if (fs::exists(folder / name, ec)) return (folder / name).string();
  return "";
}

Status find_root(const CycleOptions& o, const std::optional<ProjectDir>& project, Subject& s, Diagnostics& diags) {
  std::string map = o.model;
  if (map.empty() && project) map = map_of(*project);
  if (!map.empty()) {
    auto read = machine::read_model_functions(map, diags);
    if (!read) return kFailure;
    s.model = *read;
  }
  if (!o.root.empty()) {
    const auto found = machine::functions_named(s.elf, o.root, diags);
    if (found.empty()) return kFailure;
    s.root = found[0];
  } else if (!s.model.prefix.empty()) {
    // Firmware that feeds rows has a loop in place of the model's function.
    for (const std::string& name : {s.model.prefix + "_run", std::string("run_by_rows")})
      if (const auto found = machine::functions_called(s.elf, name); !found.empty() && s.root == 0) s.root = found[0];
    if (s.root == 0) {
      Location where;
      where.file = s.elf.file();
      diags
          .error(where, "function-unknown",
                 fmt::format("the program has no function '{}_run', which would run the model", s.model.prefix))
          .help(fmt::format("name the function to count with --root: '{}_step' or '{}_feed' with --call N, or 'main' "
                            "for the whole program",
                            s.model.prefix, s.model.prefix));
      return kFailure;
    }
  }
  return success();
}

Result<Subject> subject_of(const CycleOptions& o, Diagnostics& diags) {
  std::optional<ProjectDir> project;
  std::string file = o.file;
  if (is_project(file)) {
    auto opened = open_project(file, diags);
    if (!opened) return kFailure;
    project = *opened;
    file = project->image();
  } else {
    project = project_around(file);
  }
  auto elf = machine::read_program(file, diags);
  if (!elf) return kFailure;
  auto board = board_for(o, project, diags);
  if (!board) return kFailure;
  Subject out{std::move(*elf), *board, "", nullptr, {}, 0, project};
  const bool avr = out.elf.isa() == machine::Isa::kAvr;  // refused where it would run
  if ((!avr && !find_timing(o, out, diags)) || !find_root(o, project, out, diags)) return kFailure;
  return out;
}

constexpr int kModelSeconds = 180;

// What LLVM's model of the core makes of the blocks that ran. None without aotc-analyze, or without such a model.
machine::CoreModel llvm_model(const Subject& s, const machine::Listing& listing,
                              const std::vector<machine::Segment>& segments) {
  machine::CoreModel out;
  Diagnostics ignored;
  auto program = find_analyzer(ignored);
  out.reason = "aotc-analyze is not installed";
  if (!program) return out;
  const auto blocks = machine::blocks_of(listing, segments);
  std::string lines;
  for (const machine::Block& b : blocks) lines += fmt::format("{:x} {:x} {}\n", b.begin, b.end, b.loop ? 1 : 0);
  TemporaryDirectory folder;
  const std::string file = folder.path() + "/blocks";
  out.reason = "aotc-analyze gave no answer";
  if (!folder.made(ignored) || !write_file(file, lines, ignored)) return out;
  const ProcessResult run =
      run_process({*program, "model-cycles", fs::absolute(s.elf.file()).string(), "--cpu", s.cpu, "--blocks", file}, "",
                  kModelSeconds);
  nlohmann::json j;
  if (!run.started || run.exit_code != 0 || parse_json(std::string_view(run.output), j) || !j.is_object()) return out;
  if (j.contains("reason") && j["reason"].is_string()) out.reason = escape_for_display(j["reason"].get<std::string>());
  if (!j.contains("model") || !j["blocks"].is_array() || j["blocks"].size() != blocks.size()) return out;
  out.reason.clear();
  out.name = escape_for_display(j["model"].get<std::string>());
  for (size_t k = 0; k < blocks.size(); ++k)
    for (uint32_t at = blocks[k].begin; at < blocks[k].end;) {
      const machine::Instruction* i = listing.at(at);
      if (i == nullptr) break;
      out.cycles[at] = j["blocks"][k].get<double>() / blocks[k].instructions;
      at = i->next();
    }
  return out;
}

constexpr const char* kModelAssumes =
    "it assumes that blocks run in sequence, that a taken branch causes no refill, that LDM and STM are one or two "
    "operations, and that memory has no wait states";

std::string model_text(const Subject& s, const machine::CoreModel& core, const machine::CycleReport& report) {
  if (core.name.empty()) return fmt::format("LLVM: - ({})\n", core.reason);
  return fmt::format("LLVM: about {} cycles with its {}{}; {}\n", with_commas(std::llround(report.total.modelled)),
                     core.name == s.cpu ? "model of " + s.cpu : core.name + " model",
                     core.name == s.cpu ? "" : ", which LLVM uses for " + s.cpu, kModelAssumes);
}

std::string head_text(const Subject& s, const CycleOptions& o, const machine::CycleReport& report) {
  const std::string what =
      s.root != 0 ? fmt::format("{}, call {}", s.elf.function_name(s.root), o.call) : "the whole program";
  return fmt::format("{}: about {} cycles of {}, {} instructions\ncosts: {}; memory without wait states\n", what,
                     with_commas(std::llround(report.total.cycles)), s.cpu,
                     with_commas(static_cast<int64_t>(report.total.instructions)), s.timing->source);
}

nlohmann::ordered_json report_json(const Subject& s, const machine::CoreModel& core,
                                   const machine::CycleReport& report) {
  nlohmann::ordered_json j = {{"file", s.elf.file()},
                              {"board", s.board.name},
                              {"cpu", s.cpu},
                              {"root", s.root != 0 ? s.elf.function_name(s.root) : ""},
                              {"costs", s.timing->source},
                              {"wait_states", 0},
                              {"line_bytes", machine::kLineBytes}};
  if (core.name.empty()) j["llvm"] = {{"reason", core.reason}};
  else j["llvm"] = {{"model", core.name}, {"assumes", kModelAssumes}};
  j.update(machine::cycles_json(s.elf, report));
  return j;
}

// One inference as the project's own board runs it.
bool is_of_project(const CycleOptions& o, const Subject& s) {
  return s.project && o.root.empty() && o.board.empty() && o.cpu.empty() && o.model.empty() && o.call == 1;
}

int cycles(const CycleOptions& o) {
  Diagnostics diags;
  auto subject = subject_of(o, diags);
  if (!subject) return fail(diags);
  const Subject& s = *subject;
  auto segments = count_instructions(s.elf, s.board, {.root = s.root, .nth = o.call, .timeout = o.timeout}, diags);
  if (!segments) return fail(diags);
  const std::string vectors = s.board.has("mve") ? "armv8.1-m.main" : "";
  auto listing = machine::objdump_decoder_of(o.objdump, vectors)(s.elf, diags);
  if (!listing) return fail(diags);
  const machine::CoreModel core = llvm_model(s, *listing, *segments);
  const machine::CycleReport report = machine::cycles_of(s.elf, *listing, *segments, *s.timing, s.model, core);
  const nlohmann::ordered_json j = report_json(s, core, report);
  if (is_of_project(o, s)) save_cycles(*s.project, j);
  if (!o.json) {
    write_out(head_text(s, o, report) + model_text(s, core, report) +
              machine::cycles_text(s.elf, report, o.all ? SIZE_MAX : kShownRows));
    return kExitDone;
  }
  write_out(json_text(j, 2) + "\n");
  return kExitDone;
}

}  // namespace

options::Command cycles_declaration() {
  auto o = std::make_shared<CycleOptions>();
  options::Option firmware = machine::firmware_option(o->file);
  firmware.help = "A linked program (.elf), or the directory of a built project";
  return {
      .name = "cycles",
      .summary = "Show where a linked program spends its cycles; an emulator counts the instructions",
      .description =
          "Runs FIRMWARE in QEMU, with a plugin that counts how often each instruction runs. Multiplies each count by "
          "the cycles that the documents of the CPU core state for the instruction. Prints the cycles of each layer, "
          "function and loop. Counts are exact; cycles assume memory without wait states. For the firmware of a "
          "project, aotc counts one inference, and 'aotc report PROJECT' then shows the counts beside its estimate.",
      .options = {std::move(firmware),
                  {.names = "--board",
                   .value = "NAME",
                   .target = &o->board,
                   .help = "Run in the emulator of this board (default: the project's board)",
                   .offers = project::board_names},
                  {.names = "--cpu",
                   .value = "NAME",
                   .target = &o->cpu,
                   .help = "Use the cycle costs of this core (default: the board's core)",
                   .offers = cores::timed_cpus},
                  {.names = "--root",
                   .value = "FUNCTION",
                   .target = &o->root,
                   .help = "Count the instructions of one call of this function (default: the model's run function, or "
                           "the whole program if there is none)"},
                  {.names = "--call",
                   .value = "N",
                   .target = &o->call,
                   .help = "Count the Nth call of the --root function",
                   .range = options::Range{1, 1000000000}},
                  {.names = "--model",
                   .value = "FILE",
                   .target = &o->model,
                   .help = "Read the names of the layers from this NAME.map.json (default: the project's file)",
                   .takes = options::Takes::kFile},
                  machine::objdump_option(o->objdump),
                  {.names = "--timeout",
                   .value = "SECONDS",
                   .target = &o->timeout,
                   .help = "Stop the emulator after this many seconds",
                   .range = options::Range{1, 1000000}},
                  {.names = "--all", .target = &o->all, .help = "Print all functions and loops"},
                  {.names = "--json", .target = &o->json, .help = "Print JSON"}},
      .run = [o] { return cycles(*o); }};
}

}  // namespace aotc::driver
