// SPDX-License-Identifier: Apache-2.0
#include "text_case.h"

#include <nlohmann/json.hpp>

#include "driver/schedules.h"
#include "graph/graph.h"
#include "ops/operator.h"
#include "passes/devices.h"
#include "plan/text.h"
#include "plan/verify.h"
#include "project/description.h"
#include "tir/tir.h"

namespace aotc::fuzz {

namespace {

std::string bad_errors(const Diagnostics& diags, const std::string& slug) {
  if (!diags.has_errors()) return "refused without an error";
  for (const Diagnostic& d : diags.all())
    if (d.slug != slug || d.message.empty() || d.location.file.empty())
      return "an error without its place, or of another slug: " + diags.str();
  return "";
}

std::string check_graph(const std::string& text) {
  Diagnostics diags;
  auto graph = graph::parse(text, "t", ops::definition_lookup(), diags);
  if (!graph) return bad_errors(diags, "ir-parse");
  if (!graph::verify_structure(*graph, diags)) return bad_errors(diags, "ir-invalid");
  std::string printed = graph::print(*graph);
  auto again = graph::parse(printed, "t", ops::definition_lookup(), diags);
  if (!again) return "printed text of a graph does not parse: " + diags.str();
  if (graph::print(*again) != printed) return "a graph is printed differently";
  bool good = ops::verify_graph(*graph, diags).ok();
  return good != diags.has_errors() ? "" : "operators are refused without an error, or taken with one";
}

std::string check_function(const std::string& text) {
  Diagnostics diags;
  auto function = tir::parse(text, "t", diags);
  if (!function) return bad_errors(diags, "tir-parse");
  std::string printed = tir::print(**function);
  auto again = tir::parse(printed, "t", diags);
  if (!again) return "printed text of a loop program does not parse: " + diags.str();
  if (tir::print(**again) != printed) return "a loop program is printed differently";
  if (!tir::verify(**function, diags)) return bad_errors(diags, "tir-invalid");
  return "";
}

std::string check_program(const std::string& text) {
  Diagnostics diags;
  auto read = plan::parse(text, "t", diags);
  if (!read) {
    const bool of_function = diags.has_errors() && diags.all()[0].slug == "tir-parse";
    return bad_errors(diags, of_function ? "tir-parse" : "program-parse");
  }
  auto printed = [](const plan::ReadProgram& p) { return plan::print(p.program, {true, INT64_MAX, &p.bands}); };
  // Places that there are not are told before anything looks there.
  if (!plan::verify(read->program, diags, &read->bands, &read->calls))
    return diags.has_errors() ? "" : "a program is refused without an error";
  const std::string once = printed(*read);
  auto again = plan::parse(once, "t", diags);
  if (!again) return "printed text of a program does not parse: " + diags.str();
  return printed(*again) == once ? "" : "a program is printed differently";
}

std::string check_schedules(const std::string& text) {
  Diagnostics diags;
  auto schedules = driver::parse_schedules(text, "t", diags);
  if (!schedules) return bad_errors(diags, "schedule-file");
  nlohmann::ordered_json printed = {{"calls", driver::schedules_json(schedules->operators)}};
  if (schedules->arrangement) printed["arrangement"] = to_json(*schedules->arrangement);
  auto again = driver::parse_schedules(printed.dump(), "t", diags);
  if (!again) return "printed schedules do not parse: " + diags.str();
  return *again == *schedules ? "" : "schedules are printed differently";
}

std::string check_devices(const std::string& text) {
  Diagnostics diags;
  auto devices = passes::parse_devices(text, "t", diags);
  if (!devices) return bad_errors(diags, "devices-invalid");
  bool good = !devices->devices.empty() && devices->fallback >= 0 &&
              devices->fallback < static_cast<int>(devices->devices.size());
  return good ? "" : "devices that are none";
}

std::string check_template(const std::string& text) {
  Diagnostics diags;
  Location where;
  where.file = "t";
  auto description = project::parse_description(text, "bare_metal", where, diags);
  if (!description) return bad_errors(diags, "template-invalid");
  return project::help_text(*description).empty() ? "no help for a template" : "";
}

}  // namespace

std::string check_text_case(const std::string& text) {
  for (auto check : {check_graph, check_function, check_program, check_schedules, check_devices, check_template}) {
    std::string bad = check(text);
    if (!bad.empty()) return bad;
  }
  return "";
}

}  // namespace aotc::fuzz
