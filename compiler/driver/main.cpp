// SPDX-License-Identifier: Apache-2.0
// The command line: options, subcommands and the one-shot form `aotc MODEL --board B -o DIR`.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "driver/commands.h"
#include "project/template.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

// Parsed "NAME=VALUE" pairs; a CLI error for anything else.
std::map<std::string, std::string> pairs(const std::vector<std::string>& list) {
  std::map<std::string, std::string> out;
  for (const std::string& item : list) {
    size_t eq = item.find('=');
    if (eq == std::string::npos || eq == 0)
      throw CLI::ValidationError("--project-option", "'" + item + "' is not NAME=VALUE");
    out[item.substr(0, eq)] = item.substr(eq + 1);
  }
  return out;
}

class CommandLine {
 public:
  CommandLine() {
    app_.name("aotc");
    app_.description(
        "Compiles trained networks to C for microcontrollers, and proves the result.\n"
        "One-shot form: aotc MODEL --board BOARD -o DIRECTORY (check, compile, create).");
    app_.set_version_flag("--version", std::string("aotc ") + kVersion);
    app_.require_subcommand(1);
    add_check();
    add_compile();
    add_create();
    add_project_commands();
    add_verify();
    add_report();
    add_lists();
    add_mlf_command(app_, result_);
    add_rpc_command(app_, result_);
    add_bench_command(app_, result_);
    add_project_server_command(app_, result_);
    add_graph_command(app_, result_);
    add_analyze_command(app_, result_);
    add_templates_command(app_, result_);
    app_.footer(
        "Exit codes: 0 done, 1 bad input or unsupported, 2 usage, 3 does not fit the board,\n"
        "4 verification failed, 5 toolchain or emulator missing, 6 device, 70 bug in aotc.");
  }

  int run(std::vector<std::string> args) {
    // `aotc model.tflite ...` is `aotc create model.tflite ...`.
    if (!args.empty() && !args[0].starts_with("-") && !is_command(args[0]) &&
        looks_like_model(args[0]))
      args.insert(args.begin(), "create");
    if (!args.empty() && !args[0].starts_with("-") && !is_command(args[0])) {
      fmt::print(stderr, "aotc: there is no command and no file '{}'\n",
                 escape_for_display(args[0]));
      suggest(args);
      return kExitUsage;
    }
    const std::vector<std::string> given = args;
    std::reverse(args.begin(), args.end());
    try {
      app_.parse(args);
    } catch (const CLI::ParseError& e) {
      int code = app_.exit(e);
      if (code != 0) suggest(given);
      return code == 0 ? kExitDone : kExitUsage;
    }
    return result_;
  }

 private:
  bool is_command(const std::string& name) const {
    for (const CLI::App* sub : app_.get_subcommands(nullptr))
      if (sub->get_name() == name) return true;
    return false;
  }
  static bool looks_like_model(const std::string& arg) {
    std::error_code ec;
    return arg.find('.') != std::string::npos || arg.find('/') != std::string::npos ||
           std::filesystem::is_regular_file(arg, ec);
  }

  // The nearest names of what was mistyped, on standard error.
  void suggest(const std::vector<std::string>& args) const {
    if (args.empty()) return;
    const CLI::App* command = nullptr;
    std::vector<std::string> names;
    for (const CLI::App* sub : app_.get_subcommands(nullptr)) {
      names.push_back(sub->get_name());
      if (sub->get_name() == args[0]) command = sub;
    }
    if (command == nullptr && !args[0].starts_with("-")) did_you_mean(args[0], names, "command");
    if (command == nullptr) return;
    names.clear();
    for (const CLI::Option* option : command->get_options())
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& arg : args) {
      std::string name = arg.substr(0, arg.find('='));
      if (name.starts_with("--") && std::find(names.begin(), names.end(), name) == names.end())
        did_you_mean(name, names, "option");
    }
  }

  static void did_you_mean(const std::string& wrong, const std::vector<std::string>& names,
                           const char* what) {
    auto near = closest(wrong, names, 1);
    if (near.empty()) return;
    fmt::print(stderr, "  help: did you mean the {} '{}'?\n", what, near[0]);
  }

  void common(CLI::App* sub) {
    sub->add_flag("--json", common_.json, "Print figures as JSON on standard output");
    sub->add_flag("-q,--quiet", common_.quiet, "No progress on standard error");
  }

  static plan::Contract contract(const std::string& word) {
    return word == "overwrite" ? plan::Contract::kOverwrite : plan::Contract::kPreserve;
  }

  void compile_options(CLI::App* sub, bool model) {
    if (model)
      sub->add_option("MODEL", compile_.model_path,
                      "A .tflite file, a TVM graph (.json) or an archive with one (.tar)")
          ->required();
    graph_options(sub);
    sub->add_option("--prefix", compile_.prefix,
                    "Prefix of all C names (default: from the file name)");
    sub->add_option("--board", compile_.board_name,
                    "Board to compile for; 'aotc boards' lists them");
    sub->add_option("--signature", compile_.signature, "Signature of the model to compile");
    sub->add_option_function<std::string>(
           "--arena",
           [this](const std::string& v) {
             compile_.arena =
                 v == "model" ? codegen::ArenaOwner::kModel : codegen::ArenaOwner::kCaller;
           },
           "Who owns the arena: caller (default) or model (a static array)")
        ->check(CLI::IsMember({"caller", "model"}));
    sub->add_option_function<std::string>(
           "--memory",
           [this](const std::string& v) {
             compile_.memory =
                 v == "workspace" ? codegen::MemoryMode::kWorkspace : codegen::MemoryMode::kStatic;
           },
           "Intermediates: static (one planned arena, default) or workspace "
           "(TVMBackendAllocWorkspace)")
        ->check(CLI::IsMember({"static", "workspace"}));
    sub->add_option_function<std::string>(
           "--calling-convention",
           [this](const std::string& v) { compile_.convention = convention_of(v); },
           "Operators take typed pointers (plain, default), TVM's packed arguments (packed), or are "
           "found by name in the C runtime's registry (registry)")
        ->check(CLI::IsMember({"plain", "packed", "registry"}));
    sub->add_option_function<std::string>(
           "--interface", [this](const std::string& v) { compile_.tvm_interface = v == "tvm"; },
           "Entry point: aotc's own (aotc, default), or TVM's C interface beside it (tvm: tvmgen_NAME_run)")
        ->check(CLI::IsMember({"aotc", "tvm"}));
    sub->add_option_function<std::string>(
           "--constants", [this](const std::string& v) { compile_.constants_in_ram = v == "ram"; },
           "Where tables lie on boards whose program memory takes instructions of its own (AVR): flash "
           "(default), or ram, which is faster")
        ->check(CLI::IsMember({"flash", "ram"}));
    sub->add_option_function<std::vector<std::string>>(
        "--constants-section",
        [this](const std::vector<std::string>& sections) {
          for (const std::string& s : sections)
            compile_.constants_section += (compile_.constants_section.empty() ? "" : ",") + s;
        },
        "NAME[:BYTES]: linker section of the model's tables. May be repeated, fast ones first: what "
        "is read most goes into the first up to its size, and one without takes the rest");
    sub->add_option("--pool", compile_.pools,
                    "NAME:BYTES[:fast|:constants] of memory that the caller gives; may be repeated. "
                    "Fast ones take what is used most, one of constants takes the model's tables");
    sub->add_option("--devices", compile_.devices_path,
                    "JSON that says which operators run on which device");
    sub->add_option_function<std::string>(
           "--overlap", [this](const std::string& v) { compile_.overlap = v == "on"; },
           "Let results be written over operands that die: on (default) or off")
        ->check(CLI::IsMember({"on", "off"}));
    // verify has --input for files; it takes these words there as well.
    if (model || sub->get_name() != "verify")
      sub->add_option_function<std::string>(
             "--input", [this](const std::string& v) { compile_.inputs = contract(v); },
             "Where inputs lie: overwrite (default: in the arena, free after their last use) or "
             "preserve (the caller's buffers)")
          ->check(CLI::IsMember({"overwrite", "preserve"}));
    sub->add_option_function<std::string>(
           "--output", [this](const std::string& v) { compile_.outputs = contract(v); },
           "Where outputs lie: overwrite (in the arena, valid until the next run) or preserve "
           "(default: the caller's buffers); a directory is given with -o")
        ->check(CLI::IsMember({"overwrite", "preserve"}));
    sub->add_option_function<std::string>(
           "-O,--optimize",
           [this](const std::string& v) { compile_.level = level_of(v); },
           "What the code is for: speed, balanced (default) or size")
        ->check(CLI::IsMember({"speed", "balanced", "size"}));
    sub->add_option_function<std::string>(
           "--prefer", [this](const std::string& v) { compile_.prefer_ram = v == "ram"; },
           "Where a faster schedule needs more RAM: speed (default) or ram")
        ->check(CLI::IsMember({"ram", "speed"}));
    sub->add_option_function<std::string>(
           "--asm", [this](const std::string& v) { compile_.assembly = v == "on"; },
           "Inner loops in assembly where the board's CPU has them: on (default) or off")
        ->check(CLI::IsMember({"on", "off"}));
    sub->add_option("--schedules", compile_.schedules_path,
                    "JSON with the schedules of operators, in the form of NAME.map.json");
    sub->add_flag("--strip-float-io", compile_.strip_boundary_float,
                  "Give inputs and outputs that the model quantises itself as integers");
    sub->add_flag("--keep-dead-channels", compile_.keep_dead_channels,
                  "Keep channels that are constant or that nobody reads");
    sub->add_option("--dump-after", compile_.dump_after,
                    "Print the graph after PASS, or 'all', to standard error");
    sub->add_flag("--time-passes", compile_.time_passes, "Print how long each pass took");
  }

  void graph_options(CLI::App* sub) {
    sub->add_option("--params", compile_.params_path, "Parameters of a TVM graph");
    sub->add_option("--operators", compile_.operators,
                    "C sources that define the functions of a TVM graph");
    sub->add_option("--operator-include", compile_.include_dirs,
                    "Directory of headers that operator sources include; may be repeated");
    sub->add_option("--operator-workspace", compile_.operator_workspace,
                    "Bytes that one of these functions allocates at most (default: as the archive says)")
        ->check(CLI::Range(int64_t{0}, int64_t{1} << 30));
  }

  void add_check() {
    CLI::App* sub =
        app_.add_subcommand("check", "Can this model be compiled, and does it fit the board?");
    compile_options(sub, true);
    common(sub);
    sub->callback([this] { result_ = check_command(compile_, common_); });
  }

  void add_compile() {
    CLI::App* sub = app_.add_subcommand("compile", "Write the model as C");
    compile_options(sub, true);
    output(sub, "Directory to write (default: the prefix), or archive (default: PREFIX.tar)");
    add_mlf_options(sub, mlf_);
    common(sub);
    sub->callback([this] {
      if (!mlf_.wanted() && !mlf_.date.empty())
        throw CLI::ValidationError("--date", "is the date in an archive: give --format mlf as well");
      result_ = mlf_.wanted() ? compile_mlf_command(compile_, mlf_, out_, common_)
                              : compile_command(compile_, out_, force_, common_);
    });
  }

  void output(CLI::App* sub, const char* help) {
    sub->add_option("-o,--directory", out_, help);
    sub->add_flag("--force", force_, "Replace a directory that aotc did not make");
  }

  void add_create() {
    CLI::App* sub = app_.add_subcommand("create", "Write a firmware project for a board");
    compile_options(sub, true);
    output(sub, "Directory to write (default: PREFIX_app)");
    sub->add_option("--project", project_.kind, "Kind of project")->capture_default_str();
    sub->add_option("--project-option", project_options_,
                    "NAME=VALUE of the template; --help-project lists them");
    sub->add_option("--templates", project_.templates_dir, "Take templates from this directory");
    sub->add_option("--samples", project_.samples,
                    "Inputs to store in the firmware: a .npy file per input");
    sub->add_option("--labels", project_.labels, "Class names to print, one a line");
    sub->add_option_function<std::string>(
           "--help-project", [this](const std::string& kind) { help_project(kind); },
           "Options of a kind of project")
        ->trigger_on_parse();
    common(sub);
    sub->callback([this] {
      project_.options = pairs(project_options_);
      result_ = takes_operators() ? create_operators_command(compile_.model_path, compile_.board_name,
                                                     project_, out_, force_, common_)
                          : create_command(compile_, project_, out_, force_, common_);
    });
  }

  // What is wrong with the template is said by the command.
  bool takes_operators() const {
    Diagnostics unread;
    auto description = project::read_description({project_.kind, project_.templates_dir}, unread);
    return description && description->takes == "operators";
  }

  void help_project(const std::string& kind) {
    Diagnostics diags;
    auto description = project::read_description({kind, project_.templates_dir}, diags);
    print_diagnostics(diags);
    if (description) fmt::print("{}", project::help_text(*description));
    throw CLI::RuntimeError(description ? 0 : 1);
  }

  void add_project_commands() {
    CLI::App* build =
        app_.add_subcommand("build", "Build a project with the board's own toolchain");
    build->add_option("DIRECTORY", target_, "What 'create' wrote")->required();
    common(build);
    build->callback([this] { result_ = build_command(target_, common_); });
    CLI::App* run = app_.add_subcommand("run", "Run the firmware in the board's emulator");
    run->add_option("DIRECTORY", target_, "What 'create' wrote")->required();
    run->add_option("--timeout", timeout_, "Seconds until the emulator is stopped")
        ->capture_default_str();
    common(run);
    run->callback([this] { result_ = run_command(target_, timeout_, common_); });
  }

  void add_verify() {
    CLI::App* sub = app_.add_subcommand(
        "verify", "Compare every layer with the reference, on the host and on the board");
    sub->add_option("TARGET", verify_.target, "A project directory or a model file")->required();
    sub->add_option_function<std::vector<std::string>>(
        "--input",
        [this](const std::vector<std::string>& given) {
          for (const std::string& v : given) {
            if (v == "overwrite" || v == "preserve")
              compile_.inputs = contract(v);
            else
              verify_.inputs.push_back(v);
          }
        },
        "A .npy file per input, in order, or NAME=FILE; or overwrite|preserve as for compile");
    sub->add_option("--samples", verify_.samples, "Random samples when no input is given")
        ->capture_default_str()
        ->check(CLI::Range(1, 100000));
    sub->add_option("--seed", verify_.seed, "Seed of the random samples")->capture_default_str();
    sub->add_option("--timeout", verify_.timeout, "Seconds until the emulator is stopped")
        ->capture_default_str();
    auto* only = sub->add_option_function<std::string>(
        "--only",
        [this](const std::string& v) { verify_.host = v == "host", verify_.board = v == "board"; },
        "Only on the host or only on the board");
    only->check(CLI::IsMember({"host", "board"}));
    compile_options(sub, false);
    common(sub);
    sub->callback([this] { result_ = verify_command(verify_, compile_, common_); });
  }

  void add_report() {
    CLI::App* sub = app_.add_subcommand("report", "Every operator with its work, memory and time");
    sub->add_option("TARGET", target_, "A project directory or a model file")->required();
    compile_options(sub, false);
    common(sub);
    sub->callback([this] { result_ = report_command(target_, compile_, common_); });
  }

  void add_lists() {
    CLI::App* ops = app_.add_subcommand("ops", "List the operators with their types");
    ops->add_option("--like", like_, "Only those with a name like this");
    common(ops);
    ops->callback([this] { result_ = ops_command(like_, common_); });
    add_boards_command(app_, result_);
  }

  CLI::App app_;
  CompileOptions compile_;
  CommonOptions common_;
  ProjectChoice project_;
  VerifyOptions verify_;
  MlfChoice mlf_;
  std::vector<std::string> project_options_;
  std::string out_, target_, like_;
  bool force_ = false;
  int timeout_ = 600;
  int result_ = kExitDone;
};

}  // namespace

}  // namespace aotc::driver

namespace {

// What standard output did not take is lost: nobody may think that the command worked. A reader
// that went away (`aotc ops | head`) is no error worth a message.
int output_failed(int error) {
  if (error != EPIPE)
    fmt::print(stderr, "standard output: error: cannot write: {} [file-write]\n",
               std::strerror(error));
  return aotc::driver::kExitBadInput;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    int code = aotc::driver::CommandLine().run({argv + 1, argv + argc});
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) return output_failed(errno);
    return code;
  } catch (const std::system_error& e) {
    // fmt throws this when a write fails.
    if (std::ferror(stdout) != 0) return output_failed(e.code().value());
    fmt::print(stderr,
               "aotc: internal error: {} [internal]\n  help: please report this with the model\n",
               e.what());
    return aotc::driver::kExitInternal;
  } catch (const std::exception& e) {
    fmt::print(stderr,
               "aotc: internal error: {} [internal]\n  help: please report this with the model\n",
               e.what());
    return aotc::driver::kExitInternal;
  }
}
