// SPDX-License-Identifier: Apache-2.0
// report: a line for each operator with its shape, work, memory and, if the project was run, the
// instructions it took; the same as a page, as Markdown, CSV and JSON.
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driver/commands.h"
#include "driver/project_dir.h"
#include "driver/report.h"
#include "driver/summary.h"
#include "support/files.h"
#include "support/json.h"
#include "support/streams.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

std::string layers_text(const Report& r, const nlohmann::ordered_json& ticks, const std::string& unit) {
  const Compiled& compiled = r.compiled;
  std::vector<std::vector<std::string>> rows = {
      {"call", "operator", "result", "MACs", "arena live", "constants", "schedule"}};
  if (!ticks.empty())
    rows[0].push_back(unit + (r.data.value("stand_in", false) ? " (different board, same core)" : ""));
  for (size_t i = 0; i < compiled.program.calls.size(); ++i) {
    const plan::ProgramCall& call = compiled.program.calls[i];
    const auto& layer = r.data["layers"][i];
    std::string shape =
        call.results.empty() ? "" : graph::to_string(compiled.program.graph[call.results[0]].type.shape);
    std::vector<std::string> row = {
        std::to_string(i),
        codegen::call_title(compiled.program, call),
        shape,
        with_commas(layer.value("macs", int64_t{0})) + (layer.value("per_iteration", false) ? " per iteration" : ""),
        with_commas(layer.value("live_bytes", int64_t{0})),
        with_commas(layer.value("constants_bytes", int64_t{0})),
        call.schedule.text()};
    if (row[1].size() > 56) row[1] = row[1].substr(0, 53) + "...";
    if (i < ticks.size()) row.push_back(with_commas(ticks[i].get<int64_t>()));
    rows.push_back(row);
  }
  return format_table(rows);
}

void print_report(const Report& r) {
  const auto run = r.data.value("run", nlohmann::ordered_json::object());
  const auto ticks = run.value("op_ticks", nlohmann::ordered_json::array());
  const std::string unit = r.data.value("unit", "");
  print_out("{}\n{}", layers_text(r, ticks, unit), summary_text(r.compiled));
  print_out("{}\n{}", live_text(r.compiled), levels_text(r.variants));
  if (r.variants.size() > 1) print_out("\n{}", pareto_text(r.variants));
  if (r.project && r.data.contains("code_bytes"))
    print_out("code: {}\n", format_bytes(r.data["code_bytes"].get<int64_t>()));
  if (run.contains("values") && run["values"].contains(unit) && run["values"][unit].is_number())
    print_out("{} per inference: {}{}\n", unit, with_commas(run["values"][unit].get<int64_t>()),
              r.data.value("stand_in", false)
                  ? ", emulated on a different board with the same core; times are not comparable"
                  : "");
  for (const auto& step : r.data["next"])
    print_out("{}: {}\n", step["option"].get<std::string>(), step["text"].get<std::string>());
  if (r.data.contains("difference")) print_out("\n{}", difference_text(r.data["difference"]));
}

}  // namespace

namespace {

// A page does not replace what it is made from.
Status check_page(const ReportOptions& options, Diagnostics& diags) {
  std::vector<std::string> read = {options.target, options.compare};
  if (is_project(options.target)) {
    Diagnostics ignored;  // said later
    if (auto project = open_project(options.target, ignored)) read.push_back(project->compile_options().model_path);
  }
  for (const std::string& file : read) {
    std::error_code absent;
    if (options.html.empty() || file.empty() || !std::filesystem::equivalent(options.html, file, absent)) continue;
    Location where;
    where.file = options.html;
    diags.error(where, "output-exists", "--html would overwrite this file, from which aotc makes the report")
        .help("choose another file with --html");
    return kFailure;
  }
  return success();
}

}  // namespace

int report_command(const ReportOptions& options, const CompileOptions& given, const CommonOptions& common) {
  Diagnostics diags;
  if (!check_page(options, diags)) return fail(diags);
  std::optional<nlohmann::ordered_json> before;
  if (!options.compare.empty()) {
    auto read = read_report(options.compare, diags);
    if (!read) return fail(diags);
    before = std::move(*read);
  }
  auto report = make_report(options.target, given, diags, !options.no_alternatives);
  if (!report) return fail(diags);
  if (before) report->data["difference"] = difference_json(*before, report->data);
  if (!options.html.empty()) {
    const std::string page = report_page(report->data);
    if (!write_file(options.html, page, diags)) return fail(diags);
    if (!common.json && !options.csv && !options.markdown)
      print_out("wrote {}: {}\n", options.html, format_bytes(static_cast<int64_t>(page.size())));
  }
  if (common.json) print_out("{}\n", json_text(report->data, 1));
  else if (options.csv) write_out(report_csv(report->data));
  else if (options.markdown) write_out(report_markdown(report->data));
  else if (options.html.empty()) print_report(*report);
  if (!common.json) print_diagnostics(diags);
  return kExitDone;
}

}  // namespace aotc::driver
