// SPDX-License-Identifier: Apache-2.0
// aotc-analyze compile and ranges: what Clang makes of C sources for a CPU, and what its analyser finds in them.
// The one thing to know: each runs in a process that may die (worker.h).
#pragma once

#include <string>
#include <vector>

#include "options/options.h"

namespace aotc::analyze {

// FILE, -I and -D, which every command that reads sources takes.
std::vector<options::Option> source_options(std::vector<std::string>& files, std::vector<std::string>& include_dirs,
                                            std::vector<std::string>& defines);

options::Command compile_declaration();
options::Command ranges_declaration();

}  // namespace aotc::analyze
