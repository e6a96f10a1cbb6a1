// SPDX-License-Identifier: Apache-2.0
// analyze: programs by aotc itself; sources by aotc-analyze, which it starts with what follows on the command
// line, as git starts its subcommands.
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "driver/analyzer.h"
#include "driver/commands.h"
#include "machine/commands.h"
#include "machine/objdump.h"

namespace aotc::driver {

namespace {

constexpr int kNotStarted = 127;

}  // namespace

int run_in_place(const std::string& program, const std::vector<std::string>& args) {
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const std::string& arg : args) argv.push_back(const_cast<char*>(arg.c_str()));
  argv.push_back(nullptr);
  std::fflush(nullptr);
  pid_t pid = fork();
  if (pid == 0) {
    std::signal(SIGPIPE, SIG_DFL);
    execv(program.c_str(), argv.data());
    _exit(kNotStarted);
  }
  int status = 0;
  while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) != kNotStarted) return WEXITSTATUS(status);
  Location where;
  where.file = program;
  Diagnostics diags;
  if (pid > 0 && WIFSIGNALED(status)) {
    diags.error(where, "internal", fmt::format("the program was stopped by a signal: {}", strsignal(WTERMSIG(status))))
        .help("please report this with the sources");
  } else {
    diags.error(where, "tool-missing", "the program cannot be started")
        .help("build aotc-analyze again, for this machine");
  }
  print_diagnostics(diags);
  return exit_code_of(diags, kExitInternal);
}

static int analyze_command(const std::vector<std::string>& args) {
  Diagnostics diags;
  auto program = find_analyzer(diags);
  if (program) return run_in_place(*program, args);
  print_diagnostics(diags);
  return exit_code_of(diags, kExitBadInput);
}

options::Command analyze_declaration() {
  auto args = std::make_shared<std::vector<std::string>>();
  // Every argument, --help too, is for aotc-analyze.
  options::Command signatures = {.name = "signatures",
                                 .summary = "List the functions of operator libraries in C and C++",
                                 .run =
                                     [args] {
                                       args->insert(args->begin(), "signatures");
                                       return analyze_command(*args);
                                     },
                                 .rest = args.get()};
  return {.name = "analyze",
          .summary = "Analyse linked programs and C sources",
          .commands = {machine::stack_declaration(machine::objdump_decoder),
                       machine::size_declaration(machine::objdump_decoder), cycles_declaration(),
                       analyze_compile_declaration(), ranges_declaration(), std::move(signatures)}};
}

}  // namespace aotc::driver
