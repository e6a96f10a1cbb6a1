// SPDX-License-Identifier: Apache-2.0
// aotc-analyze model-cycles: what LLVM's machine code analyser says of blocks of a linked program, by the
// scheduling model of a core. The one thing to know: not every core has one, and that of some is another's.
#pragma once

#include "options/options.h"

namespace aotc::analyze {

// Prints {"model": "cortex-m4", "blocks": [cycles, ...], "unknown": instructions}, or {"reason": TEXT}.
options::Command model_cycles_declaration();

}  // namespace aotc::analyze
