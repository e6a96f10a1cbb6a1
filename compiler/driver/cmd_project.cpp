// SPDX-License-Identifier: Apache-2.0
// The declarations of check, compile, create, build, run, verify, report: what they do is in
// commands.cpp and files of their own.
#include <algorithm>
#include <iterator>
#include <memory>

#include <fmt/format.h>

#include "driver/commands.h"
#include "driver/constants_for.h"
#include "driver/together.h"
#include "project/template.h"
#include "support/streams.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

using options::Command;
using options::Instead;
using options::Option;
using options::Takes;

struct Everything {
  CompileOptions compile;
  CommonOptions common;
  ProjectChoice project;
  VerifyOptions verify;
  ReportOptions report;
  MlfChoice mlf;
  ModelsChoice models;
  std::string constants_for;  // an aotc.json
  std::vector<std::string> project_options;
  std::string out, target;
  bool force = false, fit_stack = false;
  int timeout = 600;
};

Option directory_option(Everything& e, const char* help) {
  return {.names = "-o,--directory",
          .value = "DIRECTORY",
          .target = &e.out,
          .help = help,
          .takes = Takes::kDirectory,
          .common = true};
}

Option force_option(Everything& e) {
  return {.names = "--force",
          .target = &e.force,
          .help = "Replace files that changed since aotc wrote them; keep files that aotc did not write"};
}

// A project directory.
Option project_argument(Everything& e) {
  return {.names = "DIRECTORY",
          .target = &e.target,
          .help = "A project directory that 'aotc create' wrote",
          .required = true,
          .takes = Takes::kDirectory};
}

Option timeout_option(int& seconds) {
  return {.names = "--timeout",
          .value = "SECONDS",
          .target = &seconds,
          .help = "Stop the emulator, or stop waiting for the board, after this many seconds"};
}

// False for a text that is not NAME=VALUE.
bool read_pairs(const std::vector<std::string>& list, std::map<std::string, std::string>& out) {
  for (const std::string& item : list) {
    size_t eq = item.find('=');
    if (eq == std::string::npos || eq == 0) {
      options::usage_error("aotc create", "--project-option: '" + escape_for_display(item) + "' is not NAME=VALUE",
                           {"'aotc create --help-project KIND' lists the options"});
      return false;
    }
    out[item.substr(0, eq)] = item.substr(eq + 1);
  }
  return true;
}

// What is wrong with the template is said by the command.
bool takes_operators(const ProjectChoice& choice) {
  if (choice.kind.empty()) return false;
  Diagnostics unread;
  auto description = project::read_description({choice.kind, choice.templates_dir}, unread);
  return description && description->takes == "operators";
}

int help_project(const std::string& kind, const ProjectChoice& choice) {
  Diagnostics diags;
  auto description = project::read_description({kind, choice.templates_dir}, diags);
  print_diagnostics(diags);
  if (!description) return kExitBadInput;
  write_out(project::help_text(*description));
  return kExitDone;
}

std::vector<std::string> kinds() {
  std::vector<std::string> out;
  for (const std::string& kind : project::template_kinds()) out.push_back(dashed(kind));
  return out;
}

// One model, of a command that takes several; what is wrong with the command line is said.
bool takes_one_model(Everything& e, const char* command) {
  if (e.models.paths.size() > 1) {
    const std::string& second = e.models.paths[1];
    options::usage_error(
        command, fmt::format("expected one model, but {} are given", e.models.paths.size()),
        {second.find('=') != std::string::npos ? fmt::format("if '{}' is a second value of an option, repeat the "
                                                             "option's name in front of it: an option takes one value",
                                                             second)
                                               : "pass --together to compile the models into one program"});
    return false;
  }
  if (!e.models.names.empty()) {
    options::usage_error(command, "--name needs --together", {"use --prefix for a single model"});
    return false;
  }
  e.compile.model_path = e.models.paths.front();
  return true;
}

Command check() {
  auto e = std::make_shared<Everything>();
  Command out = {.name = "check",
                 .summary = "Check whether a model is supported and fits the board, without writing files",
                 .options = model_arguments(e->models),
                 .groups = compile_groups(e->compile),
                 .run = [e]() -> int {
                   if (e->models.together) return check_together_command(e->compile, e->models, e->common);
                   if (!takes_one_model(*e, "aotc check")) return kExitUsage;
                   return check_command(e->compile, e->common);
                 }};
  out.options.push_back(json_option(e->common));
  out.options.push_back(quiet_option(e->common));
  return out;
}

Command compile() {
  auto e = std::make_shared<Everything>();
  Command out = {.name = "compile",
                 .summary = "Write the model as C",
                 .options = model_arguments(e->models),
                 .groups = compile_groups(e->compile),
                 .run = [e]() -> int {
                   if (e->models.together) {
                     if (e->mlf.wanted())
                       return options::usage_error("aotc compile", "--together cannot write an archive: it writes C",
                                                   {"omit --format and --style"});
                     return compile_together_command(e->compile, e->models, e->out, e->force, e->common);
                   }
                   if (!takes_one_model(*e, "aotc compile")) return kExitUsage;
                   if (!e->constants_for.empty()) {
                     if (e->mlf.wanted())
                       return options::usage_error("aotc compile",
                                                   "--constants-for cannot write an archive: it writes only the tables",
                                                   {"omit --format and --style"});
                     return constants_for_command(e->compile, e->constants_for, e->out, e->common);
                   }
                   if (e->mlf.wanted() && !e->compile.constants_file.empty())
                     return options::usage_error(
                         "aotc compile",
                         "--constants-file cannot write an archive: an archive stores the tables in the code",
                         {"omit --constants-file, or --format and --style"});
                   if (e->mlf.wanted()) return compile_mlf_command(e->compile, e->mlf, e->out, e->common);
                   if (!e->mlf.date.empty())
                     return options::usage_error("aotc compile", "--date needs an archive", {"add --format mlf"});
                   return compile_command(e->compile, e->out, e->force, e->common);
                 }};
  out.options.push_back(directory_option(*e, "Write this directory or archive (default: PREFIX, or PREFIX.tar)"));
  out.options.push_back(force_option(*e));
  for (Option& o : constants_options(e->compile)) out.options.push_back(std::move(o));
  out.options.push_back({.names = "--constants-for",
                         .value = "OLD/aotc.json",
                         .target = &e->constants_for,
                         .help = "Write only the tables (weights and other constants) of this model, for the code of "
                                 "an OLD model that was compiled with --constants-file. aotc uses the options of the "
                                 "old model, and refuses if the code would differ. -o names the file",
                         .takes = Takes::kFile,
                         .see = "weights.md"});
  for (Option& o : mlf_options(e->mlf)) out.options.push_back(std::move(o));
  out.options.push_back(json_option(e->common));
  out.options.push_back(quiet_option(e->common));
  return out;
}

Command create() {
  auto e = std::make_shared<Everything>();
  return {
      .name = "create",
      .summary = "Write a firmware project for a board",
      .options =
          {model_argument(e->compile),
           directory_option(*e, "Write this directory (default: PREFIX_app)"),
           force_option(*e),
           {.names = "--project",
            .value = "KIND",
            .target = &e->project.kind,
            .help =
                "Write this kind of project (default: the kind for the board); 'aotc templates list' lists the kinds",
            .offers = kinds,
            .see = "projects.md",
            .common = true},
           {.names = "--project-option",
            .value = "NAME=VALUE",
            .target = &e->project_options,
            .help = "Set an option of this kind of project; --help-project KIND lists the options"},
           {.names = "--templates",
            .value = "DIRECTORY",
            .target = &e->project.templates_dir,
            .help = "Read templates from this directory",
            .takes = Takes::kDirectory},
           {.names = "--samples",
            .value = "FILE.npy",
            .target = &e->project.samples,
            .help = "Store these inputs in the firmware: one file for each input of the model. A file may stack "
                    "several samples",
            .takes = Takes::kFile,
            .common = true},
           {.names = "--labels",
            .value = "FILE",
            .target = &e->project.labels,
            .help = "Read class names from this file, one per line; the firmware prints them with its results",
            .takes = Takes::kFile},
           {.names = "--license",
            .value = "SPDX",
            .target = &e->project.licence,
            .help = "Set the licence of the project, such as 'MIT OR Apache-2.0', in its files and in its "
                    "manifest if it has one (default: 0BSD)",
            .see = "projects.md#licence"},
           {.names = "--help-project",
            .value = "KIND",
            .target = Instead{[e](const std::string& kind) { return help_project(kind, e->project); }},
            .help = "Show the options of this kind of project",
            .offers = kinds},
           json_option(e->common),
           quiet_option(e->common)},
      .groups = compile_groups(e->compile),
      .run = [e]() -> int {
        if (!read_pairs(e->project_options, e->project.options)) return kExitUsage;
        if (!takes_operators(e->project)) return create_command(e->compile, e->project, e->out, e->force, e->common);
        if (!e->compile.cpu_name.empty())
          return options::usage_error("aotc create",
                                      "--cpu is not enough: firmware that serves operators needs a board",
                                      {"pass --board NAME; 'aotc boards' lists the boards"});
        return create_operators_command(e->compile.model_path, e->compile.board_name, e->project, e->out, e->force,
                                        e->common);
      }};
}

Command build() {
  auto e = std::make_shared<Everything>();
  return {.name = "build",
          .summary = "Build a project with the board's toolchain",
          .options = {project_argument(*e),
                      {.names = "--fit-stack",
                       .target = &e->fit_stack,
                       .help = "Compute a bound of the stack from the instructions, and link again with this bound as "
                               "stack size. Then compute the bound again",
                       .see = "analyze.md#of-projects"},
                      json_option(e->common),
                      quiet_option(e->common)},
          .run = [e] { return build_command(e->target, e->fit_stack, e->common); }};
}

Command run() {
  auto e = std::make_shared<Everything>();
  Command out = {
      .name = "run",
      .summary = "Run the firmware in the board's emulator, or with --port on the board",
      .options = {project_argument(*e), timeout_option(e->timeout), json_option(e->common), quiet_option(e->common)},
      .run = [e] { return run_command(e->target, e->verify.port, e->timeout, e->common); }};
  for (Option& option : port_options(e->verify.port)) out.options.push_back(std::move(option));
  return out;
}

// A project or a model.
Option target_argument(std::string& target) {
  return {.names = "TARGET",
          .target = &target,
          .help = "A project directory or a model file",
          .required = true,
          .takes = Takes::kFile};
}

options::Choice places(VerifyOptions& v) {
  return {{"host", "board"}, "", [&v](const std::string& word) {
            v.host = word == "host";
            v.board = word == "board";
          }};
}

Command verify() {
  auto e = std::make_shared<Everything>();
  VerifyOptions& v = e->verify;
  auto input = [e](const std::string& text) {
    if (!read_input_contract(text, e->compile)) e->verify.inputs.push_back(text);
  };
  Command out = {
      .name = "verify",
      .summary = "Compare every layer's results with the reference, on the host and on the board",
      .options =
          {target_argument(v.target),
           {.names = "--input",
            .value = "FILE.npy",
            .target = options::Setter{input},
            .help =
                "Read an input from this file. Give the files in the order of the inputs, or as NAME=FILE. Instead of "
                "a file, the words overwrite, preserve and rows choose the memory of the inputs, as for 'aotc compile'",
            .takes = Takes::kFile,
            .common = true},
           {.names = "--data",
            .value = "FILE.npy",
            .target = &v.data,
            .help = "Compare only the outputs, not every layer, for the many inputs in this file; give the files as "
                    "for --input",
            .excludes = {"--input", "--samples"},
            .takes = Takes::kFile},
           {.names = "--labels",
            .value = "FILE.npy",
            .target = &v.labels,
            .help = "With --data: read the class of each input from this file; print how many results are "
                    "right, and which classes are confused",
            .takes = Takes::kFile},
           {.names = "--samples",
            .value = "N",
            .target = &v.samples,
            .help = "Use N random samples if no input is given (default: 3, or 16 for a model with state)",
            .range = options::Range{1, 100000},
            .common = true},
           {.names = "--seed", .value = "N", .target = &v.seed, .help = "Set the seed of the random samples"},
           timeout_option(v.timeout),
           {.names = "--only",
            .target = places(v),
            .help = "Run only on the host, or only on the board",
            .common = true},
           json_option(e->common),
           quiet_option(e->common)},
      .groups = compile_groups(e->compile, false),
      .run = [e] {
        if (!e->verify.labels.empty() && e->verify.data.empty())
          return options::usage_error("aotc verify", "--labels needs --data",
                                      {"pass the inputs that belong to the labels with --data"});
        return verify_command(e->verify, e->compile, e->common);
      }};
  for (Option& option : port_options(v.port)) out.options.push_back(std::move(option));
  return out;
}

Command report() {
  auto e = std::make_shared<Everything>();
  ReportOptions& r = e->report;
  Option json = json_option(e->common);
  json.excludes = {"--csv", "--markdown"};
  return {.name = "report",
          .summary = "Show the work, memory and time of every operator",
          .options = {target_argument(r.target),
                      {.names = "--html",
                       .value = "FILE",
                       .target = &r.html,
                       .help = "Write the whole report as one HTML file that loads no other file",
                       .takes = Takes::kFile,
                       .see = "analyze.md#the-page",
                       .common = true},
                      {.names = "--compare",
                       .value = "OLD.json",
                       .target = &r.compare,
                       .help = "Show the difference from this earlier output of 'aotc report --json'",
                       .takes = Takes::kFile,
                       .common = true},
                      json,
                      {.names = "--csv",
                       .target = &r.csv,
                       .help = "Print the layers as comma-separated values",
                       .excludes = {"--markdown"}},
                      {.names = "--markdown",
                       .target = &r.markdown,
                       .help = "Print Markdown, for a pull request",
                       .common = true},
                      {.names = "--no-alternatives",
                       .target = &r.no_alternatives,
                       .help = "Skip the comparison with other options and other boards, which takes most of the time"},
                      quiet_option(e->common)},
          .groups = compile_groups(e->compile),
          .run = [e] { return report_command(e->report, e->compile, e->common); }};
}

Command ops() {
  struct State {
    std::string like;
    bool compare = false;
    CommonOptions common;
  };
  auto s = std::make_shared<State>();
  return {
      .name = "ops",
      .summary = "List the operators with their types",
      .options =
          {{.names = "--like",
            .value = "NAME",
            .target = &s->like,
            .help = "List only operators with a similar name; for an unsupported operator, show what to use instead"},
           {.names = "--compare",
            .target = &s->compare,
            .help = "List which operators of the .tflite format aotc, TensorFlow Lite Micro and LiteRT support"},
           json_option(s->common),
           quiet_option(s->common)},
      .run = [s] {
        if (s->compare && !s->like.empty())
          return options::usage_error("aotc ops", "give --like or --compare, not both");
        return s->compare ? compare_operators_command(s->common) : ops_command(s->like, s->common);
      }};
}

}  // namespace

options::Command command_line(const std::string& only) {
  using Declare = Command (*)();
  static constexpr std::pair<const char*, Declare> kCommands[] = {{"check", check},
                                                                  {"compile", compile},
                                                                  {"create", create},
                                                                  {"build", build},
                                                                  {"run", run},
                                                                  {"flash", flash_declaration},
                                                                  {"verify", verify},
                                                                  {"evaluate", evaluate_declaration},
                                                                  {"report", report},
                                                                  {"diff", model_diff_declaration},
                                                                  {"ops", ops},
                                                                  {"schedules", schedules_declaration},
                                                                  {"tune", tune_declaration},
                                                                  {"boards", boards_declaration},
                                                                  {"cpus", cpus_declaration},
                                                                  {"templates", templates_declaration},
                                                                  {"mlf", mlf_declaration},
                                                                  {"rpc", rpc_declaration},
                                                                  {"bench", bench_declaration},
                                                                  {"project-server", project_server_declaration},
                                                                  {"graph", graph_declaration},
                                                                  {"analyze", analyze_declaration}};
  // All declarations take an eighth of the time of a small model.
  const bool is_one = std::any_of(std::begin(kCommands), std::end(kCommands),
                                  [&](const auto& command) { return command.first == only; });
  std::vector<Command> commands;
  for (const auto& [name, declare] : kCommands)
    if (!is_one || name == only) commands.push_back(declare());
  options::Command out = {
      .name = "aotc",
      .summary = "Compiles trained networks to C for microcontrollers, and proves the result",
      .description =
          "'aotc MODEL --board BOARD -o DIRECTORY' checks the model, compiles it and creates a project in one step.",
      .commands = std::move(commands),
      .version = std::string("aotc ") + kVersion,
      .exit_codes = {{kExitDone, "done"},
                     {kExitBadInput, "bad or unsupported input, or standard output cannot be written"},
                     {kExitUsage, "wrong usage"},
                     {kExitDoesNotFit, "does not fit the board"},
                     {kExitVerifyFailed, "verification failed"},
                     {kExitToolMissing, "toolchain or emulator missing"},
                     {kExitDevice, "device error"},
                     {kExitInternal, "bug in aotc"}}};
  if (!is_one) add_manual_commands(out);
  return out;
}

}  // namespace aotc::driver
