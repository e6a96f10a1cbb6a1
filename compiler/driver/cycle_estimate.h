// SPDX-License-Identifier: Apache-2.0
// Cycles of a compiled model before it is built: each call's, by what the core's documents say of its instructions
// (plan/instructions.h). The one thing to know: memory is without wait states, unless a range says otherwise.
#pragma once

#include <string>
#include <vector>

#include "driver/compilation.h"

namespace aotc::driver {

struct CycleEstimate {
  std::vector<int64_t> calls;  // in a run, all iterations together; empty: nothing is known of the core
  int64_t total = 0;           // of a run; 0: nothing is known of some call
  int64_t most = 0;            // with every line of the board's flash waited for; 0: nothing is known of its flash
};

// Nothing for a model of more than 50 million MACs, which would take longer than compiling.
const CycleEstimate& estimated_cycles(const Compiled& compiled);

// Instructions by the cost model of the target (plan/instructions.h), rather more than less.
struct InstructionEstimate {
  std::vector<int64_t> calls;  // in a run; 0: nothing is known
  int64_t total = 0;           // of a run; 0: nothing is known of some call
};
InstructionEstimate estimated_instructions(const Compiled& compiled);

// " per iteration" of a model with a loop whose length only a run decides: each figure counts one iteration. Else
// empty.
std::string per_iteration_text(const Compiled& compiled);

// "of cortex-m4, no wait states".
std::string cycle_assumption(const Compiled& compiled);
// "29.3 to 44.1 ms at 120 MHz": at the board's full speed; empty if it has none, or nothing is known.
std::string milliseconds_text(const Compiled& compiled, const CycleEstimate& estimate);

}  // namespace aotc::driver
