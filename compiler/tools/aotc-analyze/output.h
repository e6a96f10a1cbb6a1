// SPDX-License-Identifier: Apache-2.0
// Prints the results of aotc-analyze: JSON for tools, lines for people.
#pragma once

#include <string>

#include "signature.h"
#include "support/diagnostics.h"

namespace aotc::analyze {

// The object of docs/graph-operators.md, ended by a newline.
std::string json_text(const Findings& findings);

// "ops.c:12: add: plain, int32_t add(const int8_t *a, int8_t *out)", one line per function.
std::string lines_text(const Findings& findings);

// Messages with their notes, in order.
Diagnostics diagnostics_of(const Findings& findings);

}  // namespace aotc::analyze
