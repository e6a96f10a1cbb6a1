// SPDX-License-Identifier: Apache-2.0
// aotc-analyze compile and ranges: compiles C sources for a CPU with Clang, and runs its static analyser over them.
// Each runs in a process that may die (worker.h).
#pragma once

#include <string>
#include <vector>

#include "options/options.h"

namespace aotc::analyze {

// FILE, -I and -D, for every command that reads sources.
std::vector<options::Option> source_options(std::vector<std::string>& files, std::vector<std::string>& include_dirs,
                                            std::vector<std::string>& defines);

options::Command compile_declaration();
options::Command ranges_declaration();

}  // namespace aotc::analyze
