// SPDX-License-Identifier: Apache-2.0
// A report (driver/report.h) for people: as a page, as Markdown and as CSV. The one thing to know: the page is one file
// that holds the object itself and draws it by a script of its own; it loads nothing.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace aotc::driver {

// HTML; what models call their tensors is text in it and nothing else.
std::string report_page(const nlohmann::ordered_json& report);

// For a pull request: figures, what to try, layers; and the difference, if the report has one.
std::string report_markdown(const nlohmann::ordered_json& report);

// A line for each layer, behind one of names; RFC 4180.
std::string report_csv(const nlohmann::ordered_json& report);

}  // namespace aotc::driver
