// SPDX-License-Identifier: Apache-2.0
// Report: all figures of a compiled model as one JSON object. The page, tables and `--json` of the command `report` use
// only this object, and so does `diff`. docs/cli.md lists the fields.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "driver/project_dir.h"
#include "driver/report_difference.h"
#include "driver/variants.h"

namespace aotc::driver {

struct Report {
  Compiled compiled;
  std::optional<ProjectDir> project;
  std::vector<Variant> variants;
  ReportJson data;
};

// `target`: a model file, which is compiled with `given`, or a project, which has its own options. Compiles the model
// about ten times (variants_of), but once if `others` is false. Reports the errors of compile_model and open_project.
Result<Report> make_report(const std::string& target, const CompileOptions& given, Diagnostics& diags,
                           bool others = true);

// Reads an earlier `report --json`. Reports [report-invalid] for any other file.
Result<ReportJson> read_report(const std::string& path, Diagnostics& diags);

// Adds to each layer of a summary_json object: "operands" (the producers of the tensors that the layer reads),
// "estimated_instructions" and "constants_checksum".
void add_flow(const Compiled& compiled, ReportJson& report);
// "constants": every table with its bytes and the calls that read it.
ReportJson constants_json(const Compiled& compiled);
// "overlaps": pairs of entries of "memory" that are live at the same call and share bytes; "peak": the call with the
// most bytes in use, and the entries in use. Each layer gets "arena_used_bytes", which counts shared bytes once.
void add_arena(const Compiled& compiled, ReportJson& report);
// "source": the emitted C, and the line numbers of each function.
ReportJson source_json(const Compiled& compiled);

}  // namespace aotc::driver
