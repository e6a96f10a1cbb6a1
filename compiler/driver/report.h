// SPDX-License-Identifier: Apache-2.0
// All that is known of a compiled model as one JSON object. The one thing to know: it is the only source of `report`'s
// page, its tables and `--json`, and of `diff`; docs/cli.md lists the fields.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "driver/levels.h"
#include "driver/project_dir.h"
#include "driver/report_difference.h"

namespace aotc::driver {

struct Report {
  Compiled compiled;
  std::optional<ProjectDir> project;
  std::vector<Variant> variants;
  ReportJson data;
};

// Of a model file with these options, or of a project, which has its own. Compiles some ten times
// (variants_of), once without `others`. Reports what compile_model and open_project do.
Result<Report> make_report(const std::string& target, const CompileOptions& given, Diagnostics& diags, bool others = true);

// An earlier `report --json`. Reports [report-invalid] for what is none.
Result<ReportJson> read_report(const std::string& path, Diagnostics& diags);

// Parts of the object, which is that of summary_json before.
// Of layers: "operands", who made what the call reads; "estimated_instructions"; "constants_checksum".
void add_flow(const Compiled& compiled, ReportJson& report);
// "constants": every table with its bytes and the calls that read it.
ReportJson constants_json(const Compiled& compiled);
// "overlaps": pairs of entries of "memory" that are alive at one call and share bytes; "peak": the call at which most
// bytes are in use, and by what; of layers "arena_used_bytes", which counts shared bytes once.
void add_arena(const Compiled& compiled, ReportJson& report);
// "source": the emitted C, and the lines of each function.
ReportJson source_json(const Compiled& compiled);

}  // namespace aotc::driver
