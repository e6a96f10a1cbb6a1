// SPDX-License-Identifier: Apache-2.0
// analyze compile, analyze ranges: the C of a model, and operators in C, by Clang for a CPU. The one thing to
// know: aotc writes the C into a folder that goes away, and aotc-analyze does the rest.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "driver/analyzer.h"
#include "driver/commands.h"
#include "driver/temporary.h"
#include "project/cpus.h"
#include "support/files.h"

namespace aotc::driver {

namespace fs = std::filesystem;

namespace {

struct SourceChoice {
  CompileOptions compile;
  CommonOptions common;
  std::vector<std::string> targets, flags, defines;
  bool strict = false;
};

bool is_source(const std::string& file) {
  const std::string ext = fs::path(file).extension().string();
  return ext == ".c" || ext == ".cpp" || ext == ".cc" || ext == ".cxx";
}

// The board, or the CPU as a board. Reports [clang-cpu] where there is none, or Clang has no such target.
Result<project::Board> board_of(const CompileOptions& o, Diagnostics& diags) {
  const std::string named = o.board_name.empty() ? o.cpu_name : o.board_name;
  Location where;
  where.file = named;
  if (named.empty()) {
    diags.error(where, "clang-cpu", "no CPU is given")
        .help("name a CPU with --cpu or a board with --board; 'aotc cpus' lists the CPUs");
    return kFailure;
  }
  auto board = o.board_name.empty() ? project::find_cpu(named, diags) : project::find_board(named, diags);
  if (!board) return kFailure;
  for (const char* isa : {"armv", "rv32", "avr", "native"})
    if (board->isa.starts_with(isa)) return board;
  diags.error(where, "clang-cpu", fmt::format("LLVM 19 cannot generate code for '{}'", board->isa))
      .help("name an Arm Cortex-M, RISC-V or AVR CPU with --cpu");
  return kFailure;
}

// The board's flags of gcc as Clang has them: specs are about libraries, and of instruction sets it knows one version.
std::vector<std::string> clang_flags(const project::Board& board) {
  std::vector<std::string> out;
  if (board.isa.starts_with("armv")) out.push_back("--flag=--target=arm-none-eabi");
  if (board.isa.starts_with("rv32")) out.push_back("--flag=--target=riscv32-unknown-elf");
  if (board.isa.starts_with("avr")) out.push_back("--flag=--target=avr");
  for (const std::string& flag : board.cflags)
    if (!flag.starts_with("--specs") && !flag.starts_with("-misa-spec")) out.push_back("--flag=" + flag);
  return out;
}

// What aotc-analyze is to do with the model's C in `folder`.
Result<std::vector<std::string>> write_sources(const SourceChoice& o, const std::string& command,
                                               const std::string& folder, Diagnostics& diags) {
  auto compiled = compile_model(o.compile, diags);
  if (!compiled) return kFailure;
  OutputDirectory directory(folder + "/c", project::kManifest);
  std::vector<std::string> args = {command, "--strip", fs::absolute(folder).string() + "/c/", "-I", folder + "/c"};
  std::vector<std::string> sources;
  for (auto& [name, text] : compiled->c.files) {
    // Tables have no code, and operators are read where they lie.
    const bool tables = command == "ranges" && name.ends_with("_data.c");
    const bool given = name.starts_with("operators/");
    if (is_source(name) && !tables && !(given && !o.compile.operators.empty()))
      sources.push_back(folder + "/c/" + name);
    if (given && name.ends_with(".h"))
      args.insert(args.end(), {"-I", fs::path(folder + "/c/" + name).parent_path().string()});
    directory.add(name, std::move(text));
  }
  directory.add(project::kManifest, "{}\n");
  if (!directory.commit(diags)) return kFailure;
  for (const std::string& file : o.compile.operators)
    if (is_source(file)) sources.push_back(file);
  for (const std::string& dir : o.compile.include_dirs) args.insert(args.end(), {"-I", dir});
  if (command == "compile") args.insert(args.end(), {"--map", folder + "/c/" + compiled->prefix + ".map.json"});
  args.insert(args.end(), sources.begin(), sources.end());
  return args;
}

int with_analyzer(const SourceChoice& o, std::vector<std::string> args, Diagnostics& diags) {
  for (const std::string& flag : o.flags) args.push_back("--flag=" + flag);
  for (const std::string& define : o.defines) args.insert(args.end(), {"-D", define});
  if (o.common.json) args.push_back("--json");
  if (o.strict) args.push_back("--strict");
  auto program = find_analyzer(diags);
  print_diagnostics(diags);
  if (!program) return exit_code_of(diags, kExitBadInput);
  return run_in_place(*program, args);
}

int model_command(SourceChoice& o, const std::string& command) {
  Diagnostics diags;
  const bool any_cpu = command == "ranges" && o.compile.board_name.empty() && o.compile.cpu_name.empty();
  std::vector<std::string> flags;
  if (!any_cpu) {
    auto board = board_of(o.compile, diags);
    if (!board) return fail(diags);
    flags = clang_flags(*board);
  }
  TemporaryDirectory folder;
  if (!folder.made(diags)) return fail(diags);
  auto args = write_sources(o, command, folder.path(), diags);
  if (!args) return fail(diags);
  args->insert(args->end(), flags.begin(), flags.end());
  return with_analyzer(o, std::move(*args), diags);
}

int ranges(SourceChoice& o) {
  const auto sources = std::count_if(o.targets.begin(), o.targets.end(), is_source);
  if (sources == 0 && o.targets.size() == 1) {
    o.compile.model_path = o.targets[0];
    return model_command(o, "ranges");
  }
  if (sources != static_cast<long>(o.targets.size()))
    return options::usage_error("aotc analyze ranges", "SOURCE must be C or C++ sources, or one model",
                                {"if a model has operators in C, name their sources with --operators"});
  Diagnostics diags;
  std::vector<std::string> args = {"ranges"};
  if (!o.compile.board_name.empty() || !o.compile.cpu_name.empty()) {
    auto board = board_of(o.compile, diags);
    if (!board) return fail(diags);
    args = clang_flags(*board);
    args.insert(args.begin(), "ranges");
  }
  for (const std::string& dir : o.compile.include_dirs) args.insert(args.end(), {"-I", dir});
  args.insert(args.end(), o.targets.begin(), o.targets.end());
  return with_analyzer(o, std::move(args), diags);
}

options::Option flag_option(SourceChoice& o) {
  return {.names = "--flag", .value = "FLAG", .target = &o.flags, .help = "Pass this flag to Clang: --flag=-Os"};
}

options::Option define_option(SourceChoice& o) {
  return {.names = "-D", .value = "NAME[=VALUE]", .target = &o.defines, .help = "Define a macro"};
}

}  // namespace

options::Command analyze_compile_declaration() {
  auto o = std::make_shared<SourceChoice>();
  return {.name = "compile",
          .summary = "Show code size, stack frames and warnings of a model's C code, without a toolchain for the board",
          .description =
              "Compiles the C code of MODEL with -O2 for the CPU of --cpu or --board. The compiler is Clang 19, a part "
              "of aotc-analyze; other compilers give other sizes. Prints warnings, the code size of each function and "
              "layer, and the stack frames of C functions. The stack frames of assembly functions are unknown. For a "
              "proven bound of the stack of a linked program, use 'aotc analyze stack'.",
          .options = {model_argument(o->compile),
                      flag_option(*o),
                      define_option(*o),
                      {.names = "--strict", .target = &o->strict, .help = "Exit with 3 if there is a warning"},
                      json_option(o->common)},
          .groups = compile_groups(o->compile),
          .run = [o] { return model_command(*o, "compile"); }};
}

options::Command ranges_declaration() {
  auto o = std::make_shared<SourceChoice>();
  return {
      .name = "ranges",
      .summary = "Run Clang's static analyser on C sources, or on the C code of a model and its operators",
      .description =
          "Finds divisions by zero, null pointers, indices out of bounds, uninitialised values and shifts that are too "
          "wide, and prints the position of each. Exits with 3 if there are findings. The analyser tries a limited "
          "number of paths through each function, so a result without findings proves nothing.",
      .options =
          {{.names = "SOURCE",
            .target = &o->targets,
            .help = "C (.c) or C++ (.cpp, .cc, .cxx) sources, or one model; name its operators in C with --operators",
            .required = true,
            .takes = options::Takes::kFile},
           flag_option(*o),
           define_option(*o),
           json_option(o->common)},
      .groups = compile_groups(o->compile),
      .run = [o] { return ranges(*o); }};
}

}  // namespace aotc::driver
