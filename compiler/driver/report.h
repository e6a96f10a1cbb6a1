// SPDX-License-Identifier: Apache-2.0
// Report: all figures of a compiled model as one JSON object. The page, tables and `--json` of the command `report` use
// only this object, and so does `diff`. docs/cli.md lists the fields.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "driver/compilation.h"
#include "driver/project_dir.h"
#include "driver/variants.h"

namespace aotc::driver {

using ReportJson = nlohmann::ordered_json;

// The string member of that name; empty if there is none.
std::string text_at(const ReportJson& object, const char* key);

// Compares two reports. Layers with the same operator type are matched in order; equal tensor names count most, then
// equal shapes. A layer without a match was added or removed. The result:
// {"old", "new": {"model", "target", "options"}, "totals": [{"figure", "old", "new"}], "layers": the layers that
// differ, each with "change" ("changed", "added", "removed"), "old_call", "new_call", "op_type", "tensor", "what"
// (words) and "figures": [{"figure", "old", "new"}]; "same_layers": their number}. Fields missing in an older report
// are omitted.
ReportJson difference_json(const ReportJson& before, const ReportJson& after);

std::string difference_text(const ReportJson& difference);

// The title of a figure for people: "arena" for "arena_bytes".
std::string figure_title(const std::string& figure);

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

// The report as an HTML page: one file that contains the JSON object and a script that draws it; it loads nothing.
// Names of tensors are escaped as text.
std::string report_page(const nlohmann::ordered_json& report);

// Markdown for a pull request: figures, suggestions, layers, and the difference if the report has one.
std::string report_markdown(const nlohmann::ordered_json& report);

// CSV: a header line, then a line for each layer; RFC 4180.
std::string report_csv(const nlohmann::ordered_json& report);

// Compiles one model for every board, and reports the memory that the model needs and whether it fits. The model is
// compiled once for each core, so boards with the same core differ only in their memories and clocks.
//
// "boards" of a report: an array with an object for each board except the host. Its members are "board", "cpu",
// "chosen" (only for the requested board), "fits", "arena_bytes", "constants_bytes", "ram_needed" and "flash_needed"
// including the firmware, and, if known, "estimated_instructions", "estimated_cycles" (memory without wait states) and
// "milliseconds" at the board's full clock. Cores for which the model cannot be compiled are omitted.
nlohmann::ordered_json boards_json(const CompileOptions& options);

}  // namespace aotc::driver
