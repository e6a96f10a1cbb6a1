// SPDX-License-Identifier: Apache-2.0
// tune: the search is in Python (python/aotc/tune.py), because what it runs on is: pools of
// processes, Dask. It is started with this very program, so what is searched with is what will
// compile.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "driver/commands.h"
#include "support/process.h"

namespace aotc::driver {

namespace {

constexpr const char* kTuneModule = "aotc.tune";

struct TuneChoice {
  std::string model, board, ram, flash, cache, dask, out;
  std::string objective = "instructions", levels = "balanced,speed,size", stream = "off", prefer = "cycles";
  int64_t jobs = -1;  // not given
  uint32_t alternatives = 12, programs = 10, seed = 1;
  bool json = false, quiet = false;
};

// The interpreter: what AOTC_PYTHON names, else python3 in PATH, if it has the module.
Result<std::string> find_python(Diagnostics& diags) {
  const char* given = std::getenv("AOTC_PYTHON");
  const std::string wanted = given != nullptr && given[0] != '\0' ? given : "python3";
  const std::string program = find_program(wanted);
  Location where;
  where.file = wanted;
  if (program.empty()) {
    diags.error(where, "tool-missing", "this Python interpreter is not installed, but 'aotc tune' is written in Python")
        .help("install it: apt-get install python3; or set AOTC_PYTHON to the path of a Python 3 interpreter");
    return kFailure;
  }
  ProcessResult there = run_process({program, "-c", fmt::format("import {}", kTuneModule)}, "", 60);
  if (there.started && there.exit_code == 0) return program;
  diags.error(where, "tool-missing", "this Python interpreter has no module 'aotc.tune', which 'aotc tune' needs")
      .help(
          "install the package with pip install aotc (in the repository: pip install .), or set AOTC_PYTHON to an "
          "interpreter that has the package")
      .help("in the repository, you can set PYTHONPATH=python instead");
  return kFailure;
}

// In one word: a value that begins with a dash stays one.
void add_value(std::vector<std::string>& args, const char* name, const std::string& value) {
  args.push_back(fmt::format("{}={}", name, value));
}

void add_given(std::vector<std::string>& args, const char* name, const std::string& value) {
  if (!value.empty()) add_value(args, name, value);
}

std::vector<std::string> tune_arguments(const TuneChoice& s, const std::string& python) {
  std::vector<std::string> args = {python, "-m", kTuneModule};
  add_value(args, "--board", s.board);
  add_value(args, "--objective", s.objective);
  add_value(args, "--levels", s.levels);
  add_value(args, "--stream", s.stream);
  add_value(args, "--prefer", s.prefer);
  add_given(args, "--ram", s.ram);
  add_given(args, "--flash", s.flash);
  add_given(args, "--cache", s.cache);
  add_given(args, "--dask", s.dask);
  add_given(args, "--output", s.out);
  if (s.jobs >= 0) add_value(args, "--jobs", std::to_string(s.jobs));
  add_value(args, "--alternatives", std::to_string(s.alternatives));
  add_value(args, "--programs", std::to_string(s.programs));
  add_value(args, "--seed", std::to_string(s.seed));
  if (s.json) args.emplace_back("--json");
  if (s.quiet) args.emplace_back("--quiet");
  args.insert(args.end(), {"--", s.model});
  return args;
}

int tune_command(const TuneChoice& state) {
  Diagnostics diags;
  auto python = find_python(diags);
  if (!python) return fail(diags, kExitToolMissing);
  std::error_code ec;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", ec);
  if (!ec) setenv("AOTC", self.c_str(), 1);
  const std::vector<std::string> args = tune_arguments(state, *python);
  std::vector<char*> argv;
  for (const std::string& arg : args) argv.push_back(const_cast<char*>(arg.c_str()));
  argv.push_back(nullptr);
  std::fflush(nullptr);
  execv(python->c_str(), argv.data());
  Location where;
  where.file = *python;
  diags.error(where, "tool-missing", "the interpreter cannot be started")
      .help("set AOTC_PYTHON to the path of a Python 3 interpreter");
  return fail(diags, kExitToolMissing);
}

}  // namespace

options::Command tune_declaration() {
  using options::Takes;
  auto s = std::make_shared<TuneChoice>();
  return {
      .name = "tune",
      .summary = "Search for the schedules and options that are best on a board",
      .description = "Compiles, builds, emulates and verifies variants of the model. Needs the Python package aotc.",
      .options =
          {{.names = "MODEL",
            .target = &s->model,
            .help = "A .tflite or .onnx file",
            .required = true,
            .takes = Takes::kFile},
           board_option(s->board, "Count instructions in the emulator of this board"),
           {.names = "--objective",
            .value = "WHAT",
            .target = &s->objective,
            .help = "Minimise instructions, cycles, ram or flash, or a weighted sum such as instructions=1,flash=0.5",
            .common = true},
           {.names = "--levels",
            .value = "LIST",
            .target = &s->levels,
            .help = "Try these levels of -O, separated by commas"},
           {.names = "--stream",
            .value = "LIST",
            .target = &s->stream,
            .help = "Try these values of --stream: off, auto, max"},
           {.names = "--prefer",
            .value = "LIST",
            .target = &s->prefer,
            .help = "Try these values of --prefer: cycles, ram, flash"},
           {.names = "--ram",
            .value = "BYTES",
            .target = &s->ram,
            .help = "Use at most this much RAM (default: the RAM of the model without tuning)",
            .common = true},
           {.names = "--flash",
            .value = "BYTES",
            .target = &s->flash,
            .help = "Use at most this much flash (default: the flash of the model without tuning)",
            .common = true},
           {.names = "--alternatives",
            .value = "N",
            .target = &s->alternatives,
            .help = "Measure at most N schedules of each operator",
            .range = options::Range{0, 1000}},
           {.names = "--programs",
            .value = "N",
            .target = &s->programs,
            .help = "Verify at most N whole programs",
            .range = options::Range{0, 1000}},
           {.names = "--jobs",
            .value = "N",
            .target = &s->jobs,
            .help = "Run N processes (default: the number of processors)",
            .range = options::Range{1, 1024},
            .common = true},
           {.names = "--dask",
            .value = "ADDRESS",
            .target = &s->dask,
            .help = "Use the workers of this Dask scheduler instead of processes"},
           {.names = "--cache",
            .value = "DIRECTORY",
            .target = &s->cache,
            .help = "Cache results in this directory (default: $XDG_CACHE_HOME/aotc/tune)",
            .takes = Takes::kDirectory},
           {.names = "--seed", .value = "N", .target = &s->seed, .help = "Set the seed of the inputs"},
           {.names = "-o,--output",
            .value = "FILE",
            .target = &s->out,
            .help = "Write the schedules to this file, for --schedules (default: NAME.schedules.json)",
            .takes = Takes::kFile,
            .common = true},
           {.names = "--json",
            .target = &s->json,
            .help = "Print the figures as JSON on standard output",
            .common = true},
           {.names = "-q,--quiet", .target = &s->quiet, .help = "Print no progress", .common = true}},
      .run = [s] {
        if (s->board.empty())
          return options::usage_error("aotc tune", "--board is missing: aotc counts instructions in a board's emulator",
                                      {"'aotc boards --emulated' lists the boards that run on this machine"});
        return tune_command(*s);
      }};
}

}  // namespace aotc::driver
