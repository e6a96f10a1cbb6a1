// SPDX-License-Identifier: Apache-2.0
// The commands of aotc-analyze that are not in its main file.
#pragma once

#include <string>
#include <vector>

#include "options/options.h"

namespace aotc::analyze {

// The commands `aotc-analyze compile`, which compiles C sources for a CPU with Clang, and `aotc-analyze ranges`, which
// runs Clang's static analyser on them. Both run Clang in a process that may die (worker.h).
options::Command compile_declaration();
options::Command ranges_declaration();
// The arguments FILE and options -I and -D of all commands that read sources.
std::vector<options::Option> source_options(std::vector<std::string>& files, std::vector<std::string>& include_dirs,
                                            std::vector<std::string>& defines);

// The command `aotc-analyze model-cycles`: computes the cycles of basic blocks of a linked program with LLVM's machine
// code analyser and its scheduling model of the core. LLVM has no model of some cores, and uses another core's model
// for some. Prints {"model": "cortex-m4", "blocks": [cycles, ...], "unknown": instructions}, or {"reason": TEXT}.
options::Command model_cycles_declaration();

}  // namespace aotc::analyze
