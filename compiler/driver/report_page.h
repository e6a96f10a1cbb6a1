// SPDX-License-Identifier: Apache-2.0
// Prints a report (driver/report.h) as an HTML page, as Markdown and as CSV. The page is one file that contains the
// JSON object and a script that draws it; it loads nothing.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace aotc::driver {

// HTML; names of tensors are escaped as text.
std::string report_page(const nlohmann::ordered_json& report);

// For a pull request: figures, suggestions, layers, and the difference if the report has one.
std::string report_markdown(const nlohmann::ordered_json& report);

// A header line, then a line for each layer; RFC 4180.
std::string report_csv(const nlohmann::ordered_json& report);

}  // namespace aotc::driver
