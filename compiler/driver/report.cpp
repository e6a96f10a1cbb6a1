// SPDX-License-Identifier: Apache-2.0
#include "driver/report.h"

#include <filesystem>
#include <numeric>

#include <fmt/format.h>

#include "driver/counted_cycles.h"
#include "driver/stack.h"
#include "driver/summary.h"
#include "ops/common/known_fits.h"
#include "support/files.h"
#include "support/json.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

// Figures of a project that was built, and of its last run.
void add_project(Report& r) {
  const ProjectDir& project = *r.project;
  ReportJson run = load_run(project);
  const std::string unit = unit_of_run(project, run);
  const auto ticks = run.value("op_ticks", ReportJson::array());
  r.data["run"] = run;
  r.data["unit"] = unit.empty() ? "ticks" : unit;
  if (project.board.stand_in && unit == project.board.emulated_unit()) r.data["stand_in"] = true;
  if (auto size = model_size(project)) {
    r.data["code_bytes"] = size->code;
    r.data["constants_in_image_bytes"] = size->constants;
  }
  for (size_t i = 0; i < r.data["layers"].size() && i < ticks.size(); ++i)
    r.data["layers"][i][unit.empty() ? "ticks" : unit] = ticks[i];
  add_counted_cycles(project, r.data);
  if (auto stack = stack_of_firmware(project); stack && stack->model) r.data["stack"] = stack->model_json;
}

void add_limits(const Compiled& c, ReportJson& data) {
  ReportJson limits = ReportJson::object();
  for (const char* use : {"arena", "constants"})
    if (const int64_t bytes = c.board ? c.board->memory_bytes(use) : 0; bytes > 0) limits[use] = bytes;
  if (!limits.empty()) data["limits"] = limits;
}

// Parts that this report has not, and what adds them.
ReportJson absent(const Report& r, bool others) {
  ReportJson out = ReportJson::array();
  auto add = [&](const char* part, const std::string& command) {
    out.push_back({{"part", part}, {"command", command}});
  };
  const std::string model = std::filesystem::path(r.compiled.options.model_path).filename().string();
  if (!others) add("other options and boards", "aotc report " + (r.project ? "DIRECTORY" : shell_quoted(model)));
  if (!r.compiled.board) add("code for one CPU", "aotc report " + shell_quoted(model) + " --cpu cortex-m4f");
  if (!r.project) {
    const std::string board =
        r.compiled.board && !r.compiled.options.board_name.empty() ? r.compiled.board->name : "BOARD";
    const std::string create =
        "aotc create " + shell_quoted(model) + " --board " + board + " -o app && aotc build app && ";
    add("measured instructions", create + "aotc run app && aotc report app");
    add("stack, proven", create + "aotc report app");
    if (r.data.contains("estimated_cycles"))
      add("cycles, counted in the emulator", create + "aotc analyze cycles app && aotc report app");
    return out;
  }
  if (!r.data.contains("stack") && !r.project->board.is_host()) add("stack, proven", "aotc build DIRECTORY");
  if (!r.data["run"].contains("op_ticks")) add("measured instructions", "aotc build DIRECTORY && aotc run DIRECTORY");
  if (!r.data.contains("counted") && r.data.contains("estimated_cycles") && !r.project->board.stand_in)
    add("cycles, counted in the emulator", "aotc build DIRECTORY && aotc analyze cycles DIRECTORY");
  return out;
}

}  // namespace

Result<Report> make_report(const std::string& target, const CompileOptions& given, Diagnostics& diags, bool others) {
  Report out;
  CompileOptions compile = given;
  compile.model_path = target;
  if (is_project(target)) {
    auto opened = open_project(target, diags);
    if (!opened || !require_model(*opened, diags)) return kFailure;
    out.project = std::move(*opened);
    compile = out.project->compile_options();
  }
  const ops::KnownFits fits;  // for all levels and boards
  auto compiled = compile_model(compile, diags);
  if (!compiled) return kFailure;
  out.compiled = std::move(*compiled);
  const Compiled& c = out.compiled;
  ReportJson& data = out.data;
  data = summary_json(c);
  // A project has been built, or will be: its code is measured there.
  if (out.project) add_project(out);
  out.variants = variants_of(compile, c, !out.project, others);
  data["levels"] = levels_json(out.variants);
  data["aotc"] = kVersion;
  data["model"] = escape_for_display(std::filesystem::path(compile.model_path).filename().string());
  add_limits(c, data);
  add_flow(c, data);
  add_arena(c, data);
  data["constants"] = constants_json(c);
  data["variants"] = variants_json(out.variants);
  for (const Variant& v : out.variants)
    if (v.chosen && v.code_bytes && !data.contains("code_bytes")) data["code_bytes"] = *v.code_bytes;
  if (others) data["boards"] = boards_json(compile);
  data["pareto"] = pareto_json(out.variants);
  data["next"] = next_steps_json(out.variants);
  data["absent"] = absent(out, others);
  data["source"] = source_json(c);
  return out;
}

Result<ReportJson> read_report(const std::string& path, Diagnostics& diags) {
  auto bytes = read_file(path, diags, uint64_t{1} << 28);
  if (!bytes) return kFailure;
  ReportJson out;
  auto problem = parse_json({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, out);
  auto whole = [&](const char* key, bool (ReportJson::*is)() const noexcept) {
    return out.contains(key) && (out[key].*is)();
  };
  bool good =
      !problem && out.is_object() && whole("layers", &ReportJson::is_array) && whole("prefix", &ReportJson::is_string);
  if (good)
    for (const ReportJson& layer : out["layers"]) good = good && layer.is_object();
  if (good) return out;
  Location where;
  where.file = path;
  if (problem) where.line = problem->place.line, where.column = problem->place.column;
  diags
      .error(
          where, "report-invalid",
          problem ? "the file is not JSON: " + escape_for_display(problem->what) : "the file is not a report of aotc")
      .help("write a report with 'aotc report MODEL --json > FILE'");
  return kFailure;
}

}  // namespace aotc::driver
