// SPDX-License-Identifier: Apache-2.0
// aotc-analyze model-cycles: the cycles of blocks of a linked program by LLVM's machine code analyser and its
// scheduling model of the core. Some cores have no model, and some use another core's.
#pragma once

#include "options/options.h"

namespace aotc::analyze {

// Prints {"model": "cortex-m4", "blocks": [cycles, ...], "unknown": instructions}, or {"reason": TEXT}.
options::Command model_cycles_declaration();

}  // namespace aotc::analyze
