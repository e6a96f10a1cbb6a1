// SPDX-License-Identifier: Apache-2.0
// Compares two reports (driver/report.h). Layers with the same operator type are matched in order; equal tensor names
// count most, then equal shapes. A layer without a match was added or removed.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace aotc::driver {

using ReportJson = nlohmann::ordered_json;

// The string member of that name; empty if there is none.
std::string text_at(const ReportJson& object, const char* key);

// {"old", "new": {"model", "target", "options"}, "totals": [{"figure", "old", "new"}], "layers": the layers that
// differ, each with "change" ("changed", "added", "removed"), "old_call", "new_call", "op_type", "tensor", "what"
// (words) and "figures": [{"figure", "old", "new"}]; "same_layers": their number}. Fields missing in an older report
// are omitted.
ReportJson difference_json(const ReportJson& before, const ReportJson& after);

std::string difference_text(const ReportJson& difference);

// The title of a figure for people: "arena" for "arena_bytes".
std::string figure_title(const std::string& figure);

}  // namespace aotc::driver
