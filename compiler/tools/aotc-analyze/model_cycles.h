// SPDX-License-Identifier: Apache-2.0
// The command `aotc-analyze model-cycles`: computes the cycles of basic blocks of a linked program with LLVM's machine
// code analyser and its scheduling model of the core. LLVM has no model of some cores, and uses another core's model
// for some.
#pragma once

#include "options/options.h"

namespace aotc::analyze {

// Prints {"model": "cortex-m4", "blocks": [cycles, ...], "unknown": instructions}, or {"reason": TEXT}.
options::Command model_cycles_declaration();

}  // namespace aotc::analyze
