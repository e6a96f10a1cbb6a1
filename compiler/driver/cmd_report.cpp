// SPDX-License-Identifier: Apache-2.0
// report: a line for each operator with its shape, work, memory and, if the project was run, the
// instructions it took.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driver/commands.h"
#include "driver/levels.h"
#include "driver/memory_map.h"
#include "driver/project_dir.h"
#include "driver/summary.h"
#include "support/json.h"
#include "support/streams.h"
#include "support/text.h"

namespace aotc::driver {

int report_command(const std::string& target, const CompileOptions& given,
                   const CommonOptions& common) {
  Diagnostics diags;
  CompileOptions compile = given;
  compile.model_path = target;
  nlohmann::ordered_json run = nlohmann::ordered_json::object();
  std::optional<ProjectDir> project;
  if (is_project(target)) {
    auto opened = open_project(target, diags);
    if (!opened || !require_model(*opened, diags)) return fail(diags);
    project = std::move(*opened);
    compile = project->compile_options();
    run = load_run(target);
  }
  auto compiled = compile_model(compile, diags);
  if (!compiled) return fail(diags);
  auto summary = summary_json(*compiled);
  auto ticks = run.value("op_ticks", nlohmann::ordered_json::array());
  std::string unit = project ? project->board.field("clock.unit") : "";
  if (project) {
    summary["run"] = run;
    if (project->board.stand_in) summary["stand_in"] = true;
    if (auto size = model_size(*project)) {
      summary["code_bytes"] = size->code;
      summary["constants_in_image_bytes"] = size->constants;
    }
  }
  for (size_t i = 0; i < summary["layers"].size() && i < ticks.size(); ++i)
    summary["layers"][i][unit.empty() ? "ticks" : unit] = ticks[i];
  // A project has been built, or will be: its code is measured there.
  std::vector<LevelCost> levels = cost_of_levels(compile, !project);
  summary["levels"] = levels_json(levels);
  if (compile.memory == codegen::MemoryMode::kStatic) summary["memory"] = memory_json(compiled->program);
  if (common.json) {
    print_out("{}\n",
               json_text(summary, 1));
    return kExitDone;
  }
  std::vector<std::vector<std::string>> rows = {
      {"call", "operator", "result", "MACs", "arena live", "constants", "schedule"}};
  if (!ticks.empty()) rows[0].push_back(unit + (project->board.stand_in ? " (of a stand-in)" : ""));
  for (size_t i = 0; i < compiled->program.calls.size(); ++i) {
    const plan::ProgramCall& call = compiled->program.calls[i];
    const auto& layer = summary["layers"][i];
    std::string shape = call.results.empty()
                            ? ""
                            : graph::to_string(compiled->program.graph[call.results[0]].type.shape);
    std::vector<std::string> row = {std::to_string(i),
                                    codegen::call_title(compiled->program, call),
                                    shape,
                                    with_commas(layer.value("macs", int64_t{0})),
                                    with_commas(layer.value("live_bytes", int64_t{0})),
                                    with_commas(layer.value("constants_bytes", int64_t{0})),
                                    call.schedule.text()};
    if (row[1].size() > 56) row[1] = row[1].substr(0, 53) + "...";
    if (i < ticks.size()) row.push_back(with_commas(ticks[i].get<int64_t>()));
    rows.push_back(row);
  }
  print_out("{}\n{}", format_table(rows), summary_text(*compiled));
  print_out("{}\n{}", live_text(*compiled), levels_text(levels, compile.level));
  if (summary.contains("code_bytes"))
    print_out("code: {}\n", format_bytes(summary["code_bytes"].get<int64_t>()));
  if (run.contains("values") && run["values"].contains(unit))
    print_out("{} per inference: {}{}\n", unit, with_commas(run["values"][unit].get<int64_t>()),
              project->board.stand_in ? ", of a stand-in for the board: no time of the board" : "");
  print_diagnostics(diags);
  return kExitDone;
}

}  // namespace aotc::driver
