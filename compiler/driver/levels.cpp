// SPDX-License-Identifier: Apache-2.0
#include "driver/levels.h"

#include <nlohmann/json.hpp>

#include "driver/project_dir.h"
#include "driver/temporary.h"
#include "support/files.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

// Bytes of code that the board's compiler makes of the model's functions.
std::optional<int64_t> code_of(const Compiled& compiled) {
  if (!compiled.board || find_program(compiled.board->compiler).empty()) return std::nullopt;
  TemporaryDirectory folder;
  Diagnostics ignored;  // a figure that cannot be had is left out
  if (!folder.made(ignored)) return std::nullopt;
  for (const char* suffix : {".h", "_data.h", ".c"}) {
    std::string name = compiled.prefix + suffix;
    if (!write_scratch_file(folder.path() + "/" + name, compiled.c.files.at(name), ignored))
      return std::nullopt;
  }
  std::vector<std::string> command = {compiled.board->compiler};
  command.insert(command.end(), compiled.board->cflags.begin(), compiled.board->cflags.end());
  for (const char* flag : {"-std=c99", "-O2", "-ffunction-sections", "-ffp-contract=off", "-c"})
    command.emplace_back(flag);
  command.insert(command.end(), {compiled.prefix + ".c", "-o", "model.o"});
  ProcessResult made = run_process(command, folder.path(), 120);
  if (!made.started || made.exit_code != 0) return std::nullopt;
  auto size = object_size(*compiled.board, folder.path() + "/model.o");
  return size ? std::optional(size->code) : std::nullopt;
}

}  // namespace

std::vector<LevelCost> cost_of_levels(const CompileOptions& options, bool measure_code) {
  std::vector<LevelCost> out;
  for (ops::Level level : {ops::Level::kSize, ops::Level::kBalanced, ops::Level::kSpeed}) {
    CompileOptions here = options;
    here.level = level;
    here.dump_after.clear();
    here.time_passes = false;
    Diagnostics ignored;  // the caller has compiled the model: other levels may at most refuse
    auto compiled = compile_model(here, ignored);
    if (!compiled) continue;
    Figures f = figures_of(*compiled);
    LevelCost cost{level, f.arena_bytes, f.constant_bytes,
                   static_cast<int64_t>(compiled->program.functions.size()), std::nullopt};
    if (measure_code && options.memory == codegen::MemoryMode::kStatic)
      cost.code_bytes = code_of(*compiled);
    out.push_back(cost);
  }
  return out;
}

nlohmann::ordered_json levels_json(const std::vector<LevelCost>& levels) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const LevelCost& l : levels) {
    nlohmann::ordered_json j = {{"level", name_of(l.level)},
                                {"arena_bytes", l.arena_bytes},
                                {"constants_bytes", l.constants_bytes},
                                {"functions", l.functions}};
    if (l.code_bytes) j["code_bytes"] = *l.code_bytes;
    out.push_back(j);
  }
  return out;
}

std::string levels_text(const std::vector<LevelCost>& levels, ops::Level chosen) {
  std::vector<std::vector<std::string>> rows = {{"level", "arena", "constants", "functions", "code"}};
  for (const LevelCost& l : levels)
    rows.push_back({std::string("-O ") + name_of(l.level) + (l.level == chosen ? " *" : ""),
                    with_commas(l.arena_bytes), with_commas(l.constants_bytes),
                    with_commas(l.functions), l.code_bytes ? with_commas(*l.code_bytes) : ""});
  return format_table(rows);
}

}  // namespace aotc::driver
