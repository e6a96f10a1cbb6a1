// SPDX-License-Identifier: Apache-2.0
// What is different between two reports (driver/report.h). The one thing to know: layers are matched in their order,
// of equal operators those of equal names before those of equal shapes before all others; what matches nothing was added or removed.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace aotc::driver {

using ReportJson = nlohmann::ordered_json;

// The string of that name; empty if there is none.
std::string text_at(const ReportJson& object, const char* key);

// {"old", "new": {"model", "target", "options"}, "totals": [{"figure", "old", "new"}], "layers": those that are not the
// same, each with "change" ("changed", "added", "removed"), "old_call", "new_call", "op_type", "tensor", "what" (words)
// and "figures": [{"figure", "old", "new"}]; "same_layers": how many are}. Fields that an older report has not are left
// out.
ReportJson difference_json(const ReportJson& before, const ReportJson& after);

std::string difference_text(const ReportJson& difference);

// "arena_bytes" as people call it: "arena".
std::string figure_title(const std::string& figure);

}  // namespace aotc::driver
