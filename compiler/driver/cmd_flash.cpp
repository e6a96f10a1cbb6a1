// SPDX-License-Identifier: Apache-2.0
// flash: writes a project's firmware to a board that is plugged in, by a program that people have for
// it. Which programs, and with what arguments, is data: of the kind of project (`flash` in
// template.json), where a framework has a program of its own, else of the board (`programmers` in
// board.json).
#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driver/commands.h"
#include "driver/project_dir.h"
#include "project/board.h"
#include "support/json.h"
#include "support/process.h"
#include "support/streams.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

struct FlashChoice {
  std::string project, tool, port;
  bool dry_run = false;
  int timeout = 300;
  CommonOptions common;
};

// A program that can write the firmware. Words may hold {image}, {project} and {port}.
struct Programmer {
  std::vector<std::string> argv;
  std::vector<std::string> port;    // behind argv, where a port was given; empty: it takes none
  std::vector<std::string> attach;  // shows what the firmware writes through the debugger; may be empty
  std::string install;              // how to get it

  const std::string& program() const { return argv[0]; }
};

// What is no list of words is empty: a manifest is somebody's file.
std::vector<std::string> words(const nlohmann::json& j, const char* key) {
  std::vector<std::string> out;
  if (!j.is_object() || !j.contains(key) || !j[key].is_array()) return out;
  for (const auto& word : j[key]) {
    if (!word.is_string()) return {};
    out.push_back(word.get<std::string>());
  }
  if (!out.empty() && out[0].empty()) out.clear();
  return out;
}

bool is_emulated(const project::Board& board) {
  return board.is_host() || (board.emulator_program.starts_with("qemu") && !board.stand_in);
}

std::vector<Programmer> programmers_of(const ProjectDir& project) {
  std::vector<Programmer> out;
  if (is_emulated(project.board)) return out;
  if (auto argv = words(project.manifest, "flash"); !argv.empty()) {
    out.push_back({argv, words(project.manifest, "flash_port"), {}, project.manifest.value("install", "")});
    if (out[0].install.empty()) out[0].install = project.manifest.value("tool", "");
    return out;
  }
  if (!project.has_image() || !project.board.description) return out;
  const auto& all = project.board.description->value("programmers", nlohmann::json::array());
  for (const auto& p : all)
    out.push_back({words(p, "argv"), words(p, "port"), words(p, "attach"), p.at("install").get<std::string>()});
  return out;
}

std::vector<std::string> command_of(std::vector<std::string> command, const ProjectDir& project,
                                    const std::string& port) {
  const std::string folder = std::filesystem::absolute(project.path).string();
  const std::string image = std::filesystem::absolute(project.image()).string();
  for (std::string& word : command)
    word = filled_in(word, {{"{image}", image}, {"{project}", folder}, {"{port}", port}});
  return command;
}

std::string line_of(const std::vector<std::string>& command) {
  std::string out;
  for (const std::string& word : command) out += (out.empty() ? "" : " ") + shell_quoted(word);
  return out;
}

std::string names_of(const std::vector<Programmer>& list) {
  std::string out;
  for (const Programmer& p : list) out += (out.empty() ? "" : ", ") + p.program();
  return out;
}

int nothing_to_flash(const ProjectDir& project, Location where, Diagnostics& diags) {
  if (is_emulated(project.board)) {
    diags
        .error(where, "no-programmer",
               fmt::format("there is nothing to flash: {}", project.board.is_host()
                                                                ? "the program runs on this machine, not on a board"
                                                                : "the board exists only in an emulator"))
        .help("'aotc run " + shell_quoted(project.path) + "' runs it");
  } else if (project.has_image()) {
    diags
        .error(where, "no-programmer",
               fmt::format("aotc knows no program that writes firmware to board '{}'", project.board.name))
        .help(fmt::format("write {} with the vendor's tools for the board", project.image()));
  } else {
    diags.error(where, "no-programmer", "a project of this kind builds no firmware")
        .help("link the project's library into your firmware; the README.md of the project explains how");
  }
  return kExitUsage;
}

// The one that was asked for, else the first that is installed.
const Programmer* choose(const FlashChoice& choice, const std::vector<Programmer>& list, Location where, int& code,
                         Diagnostics& diags) {
  code = kExitUsage;
  auto named = std::find_if(list.begin(), list.end(), [&](const Programmer& p) { return p.program() == choice.tool; });
  if (!choice.tool.empty() && named == list.end()) {
    diags
        .error(where, "programmer-unknown",
               fmt::format("aotc knows no program '{}' that writes to this board", escape_for_display(choice.tool)))
        .help("known programs: " + names_of(list));
    return nullptr;
  }
  if (named != list.end() && (choice.dry_run || !find_program(named->program()).empty())) return &*named;
  if (choice.tool.empty())
    for (const Programmer& p : list)
      if (!find_program(p.program()).empty()) return &p;
  if (choice.tool.empty() && choice.dry_run) return list.data();
  code = kExitToolMissing;
  auto& d = diags.error(
      where, "tool-missing",
      list.size() == 1 || named != list.end()
          ? fmt::format("'{}' is not installed", named != list.end() ? named->program() : list[0].program())
          : fmt::format("no program that writes to this board is installed; known programs: {}", names_of(list)));
  for (const Programmer& p : list)
    if ((choice.tool.empty() || p.program() == choice.tool) && !p.install.empty())
      d.help(fmt::format("{}: {}", p.program(), p.install));
  return nullptr;
}

int write_to_board(const FlashChoice& choice, const std::vector<std::string>& command, Location where,
                   Diagnostics& diags) {
  ProcessResult r = run_process(command, "", choice.timeout, [&](const std::string& piece) {
    if (!choice.common.quiet) fmt::print(stderr, "{}", piece);
    return true;
  });
  if (r.started && r.exit_code == 0 && !r.timed_out) return kExitDone;
  if (!r.started) {
    diags.error(where, "tool-missing", fmt::format("'{}' cannot be started", command[0]));
    return kExitToolMissing;
  }
  auto& d = diags.error(where, "flash-failed",
                        r.timed_out ? fmt::format("'{}' did not end within {} seconds", command[0], choice.timeout)
                                    : fmt::format("'{}' ended with exit code {}", command[0], r.exit_code));
  d.note("command: " + line_of(command));
  if (choice.common.quiet) d.note("run the command without --quiet to see the output of the program");
  d.help(
      "check that the board is plugged in, that no other program uses it, and that you have permission to open it (on "
      "Linux: udev rules)");
  return kExitDevice;
}

int flash_command(const FlashChoice& choice) {
  Diagnostics diags;
  auto project = open_project(choice.project, diags);
  if (!project) return fail(diags);
  Location where;
  where.file = choice.project;
  const std::vector<Programmer> list = programmers_of(*project);
  if (list.empty()) return fail(diags, nothing_to_flash(*project, where, diags));
  int code = kExitDone;
  const Programmer* chosen = choose(choice, list, where, code, diags);
  if (chosen == nullptr) return fail(diags, code);
  if (!choice.port.empty() && chosen->port.empty()) {
    diags
        .error(where, "programmer-port",
               fmt::format("'{}' finds the board without --port, and accepts no port", chosen->program()))
        .help("omit --port");
    return fail(diags, kExitUsage);
  }
  if (project->has_image() && !choice.dry_run && !require_image(*project, diags)) return fail(diags);
  std::vector<std::string> command = chosen->argv;
  if (!choice.port.empty()) command.insert(command.end(), chosen->port.begin(), chosen->port.end());
  command = command_of(std::move(command), *project, choice.port);
  const std::vector<std::string> attach = command_of(chosen->attach, *project, choice.port);
  const bool by_debugger = project->manifest.value("semihosting", false) && !project->manifest.contains("flash");
  const bool by_port = !by_debugger && project->can_verify() && project->board.has_chip();
  if (!choice.dry_run) {
    if (!choice.common.quiet) fmt::print(stderr, "flash: {}\n", line_of(command));
    code = write_to_board(choice, command, where, diags);
    if (code != kExitDone) return fail(diags, code);
  }
  if (choice.common.json) {
    nlohmann::ordered_json j;
    j["program"] = chosen->program();
    j["command"] = command;
    if (by_debugger && !attach.empty()) j["attach"] = attach;
    j["written"] = !choice.dry_run;
    print_out("{}\n", json_text(j, 1));
    return kExitDone;
  }
  if (choice.dry_run) print_out("{}\n", line_of(command));
  if (!choice.dry_run && !choice.common.quiet)
    print_out("written to the board by {}: {}\n", chosen->program(),
              project->has_image() ? project->image() : project->path);
  if (by_debugger && !choice.common.quiet)
    print_out("this firmware prints through the debugger: without a debugger it faults at its first output\n{}",
              attach.empty() ? std::string() : fmt::format("next: {}\n", line_of(attach)));
  if (by_port && !choice.common.quiet)
    print_out("next: aotc verify {} --port PORT, where PORT is the serial port of the board: {}\n",
              shell_quoted(project->path), project->board.field("console.port"));
  return kExitDone;
}

}  // namespace

bool can_flash(const ProjectDir& project) { return !programmers_of(project).empty(); }

options::Command flash_declaration() {
  auto s = std::make_shared<FlashChoice>();
  return {
      .name = "flash",
      .summary = "Write a project's firmware to a board that is plugged in",
      .description =
          "Runs the first installed program that can write to the board, and prints the command line of that program.",
      .options = {{.names = "DIRECTORY",
                   .target = &s->project,
                   .help = "The directory of a project that 'aotc create' wrote and 'aotc build' built",
                   .required = true,
                   .takes = options::Takes::kDirectory},
                  {.names = "--tool",
                   .value = "PROGRAM",
                   .target = &s->tool,
                   .help = "Use this program instead of the first installed one",
                   .see = "boards.md#flashing"},
                  {.names = "--port",
                   .value = "PORT",
                   .target = &s->port,
                   .help = "Use this serial port, such as /dev/ttyACM0, if the program needs one",
                   .takes = options::Takes::kFile},
                  {.names = "--dry-run", .target = &s->dry_run, .help = "Print the command line without running it"},
                  {.names = "--timeout",
                   .value = "SECONDS",
                   .target = &s->timeout,
                   .help = "Stop the program after this many seconds"},
                  json_option(s->common),
                  quiet_option(s->common)},
      .run = [s] { return flash_command(*s); }};
}

}  // namespace aotc::driver
