// SPDX-License-Identifier: Apache-2.0
// Formats the results of aotc-analyze: JSON for tools, lines of text for people.
#pragma once

#include <string>

#include "signature.h"
#include "support/diagnostics.h"

namespace aotc::analyze {

// Returns the JSON object that docs/graph-operators.md describes, followed by a newline.
std::string json_text(const Findings& findings);

// Returns one line for each function: "ops.c:12: add: plain, int32_t add(const int8_t *a, int8_t *out)".
std::string lines_text(const Findings& findings);

// Returns the messages with their notes, in order.
Diagnostics diagnostics_of(const Findings& findings);

}  // namespace aotc::analyze
