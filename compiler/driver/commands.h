// SPDX-License-Identifier: Apache-2.0
// Declarations and implementations of the subcommands. Each implementation returns an exit code.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "driver/compilation.h"
#include "driver/compile_options.h"
#include "driver/project_dir.h"
#include "driver/terminal.h"
#include "options/options.h"
#include "support/files.h"

namespace aotc::driver {

// The command line; if a command is called `only`, that command alone.
options::Command command_line(const std::string& only = "");

struct ProjectChoice {
  std::string kind;  // empty: the board's default
  std::string templates_dir;
  std::map<std::string, std::string> options;
  std::vector<std::string> samples;  // .npy per input, in input order or NAME=FILE
  std::string labels;                // text file, one class a line
  std::string licence;               // an SPDX expression; empty: 0BSD
};

// True if aotc knows a program that writes the project's firmware to its board.
bool can_flash(const ProjectDir& project);

int check_command(const CompileOptions& compile, const CommonOptions& common);
int compile_command(const CompileOptions& compile, const std::string& out, bool force, const CommonOptions& common);
int create_command(const CompileOptions& compile, const ProjectChoice& project, const std::string& out, bool force,
                   const CommonOptions& common);
// Creates a project whose firmware runs the operators of an archive at the request of the host computer.
int create_operators_command(const std::string& archive_path, const std::string& board_name,
                             const ProjectChoice& choice, const std::string& out, bool force,
                             const CommonOptions& common);
// Prints no messages. Reports the errors of read_archive and generate_operator_project.
Status write_operator_project(const std::string& archive_path, const std::string& board_name,
                              const ProjectChoice& choice, OutputDirectory& out, Diagnostics& diags);
// `fit`: link the firmware again with a stack as large as the computed upper bound.
int build_command(const std::string& dir, bool fit, const CommonOptions& common);
int run_command(const std::string& dir, const PortChoice& port, int timeout, const CommonOptions& common);

struct VerifyOptions {
  std::string target;  // project directory or model file
  std::vector<std::string> inputs;
  std::vector<std::string> data;  // .npy files of inputs, for which only outputs are compared and counted
  std::string labels;             // an .npy with the labels of the data
  int samples = -1;               // -1: as many as the model needs
  unsigned seed = 1;
  bool host = true, board = true;
  int timeout = 600;
  PortChoice port;  // port of a real board, used instead of the emulator
};
int verify_command(const VerifyOptions& options, const CompileOptions& compile, const CommonOptions& common);
struct ReportOptions {
  std::string target;   // project directory or model file
  std::string html;     // file to write; empty: none
  std::string compare;  // an earlier report; empty: none
  bool csv = false, markdown = false;
  bool no_alternatives = false;  // compile only the requested configuration
};
int report_command(const ReportOptions& options, const CompileOptions& compile, const CommonOptions& common);
int ops_command(const std::string& like, const CommonOptions& common);
int compare_operators_command(const CommonOptions& common);

// Declarations of the commands that have their own options.
options::Command analyze_declaration();
options::Command analyze_compile_declaration();
options::Command bench_declaration();
options::Command boards_declaration();
options::Command model_diff_declaration();
options::Command cpus_declaration();
options::Command evaluate_declaration();
options::Command cycles_declaration();
options::Command graph_declaration();
options::Command mlf_declaration();
options::Command project_server_declaration();
options::Command ranges_declaration();
options::Command rpc_declaration();
options::Command schedules_declaration();
options::Command flash_declaration();
options::Command tune_declaration();
options::Command templates_declaration();
// The commands help, man and completion.
void add_manual_commands(options::Command& program);

// compile --format mlf: the model, or its operators, as a Model Library Format archive.
struct MlfChoice {
  std::string format = "c";      // or "mlf"
  std::string style;             // empty: full-model; any style implies format mlf
  std::vector<std::string> ops;  // operators for --style operator
  std::string date;              // unparsed

  bool wanted() const { return format == "mlf" || !style.empty() || !ops.empty(); }
};
std::vector<options::Option> mlf_options(MlfChoice& choice);
// `out`: the file; empty: PREFIX.tar.
int compile_mlf_command(const CompileOptions& options, const MlfChoice& choice, const std::string& out,
                        const CommonOptions& common);

}  // namespace aotc::driver
