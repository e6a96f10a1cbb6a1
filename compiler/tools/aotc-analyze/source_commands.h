// SPDX-License-Identifier: Apache-2.0
// aotc-analyze compile and ranges: what Clang makes of C sources for a CPU, and what its analyser finds in them.
// The one thing to know: each runs in a process that may die (worker.h).
#pragma once

#include "options/options.h"

namespace aotc::analyze {

options::Command compile_declaration();
options::Command ranges_declaration();

}  // namespace aotc::analyze
