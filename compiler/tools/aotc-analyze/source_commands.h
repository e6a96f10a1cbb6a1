// SPDX-License-Identifier: Apache-2.0
// The commands `aotc-analyze compile`, which compiles C sources for a CPU with Clang, and `aotc-analyze ranges`, which
// runs Clang's static analyser on them. Both run Clang in a process that may die (worker.h).
#pragma once

#include <string>
#include <vector>

#include "options/options.h"

namespace aotc::analyze {

// The arguments FILE and options -I and -D of all commands that read sources.
std::vector<options::Option> source_options(std::vector<std::string>& files, std::vector<std::string>& include_dirs,
                                            std::vector<std::string>& defines);

options::Command compile_declaration();
options::Command ranges_declaration();

}  // namespace aotc::analyze
