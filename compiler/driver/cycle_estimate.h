// SPDX-License-Identifier: Apache-2.0
// Estimates the cycles of a compiled model before it is built, for each call, from the core's documented instruction
// timing (plan/instructions.h). Memory is assumed to have no wait states, unless a range states otherwise.
#pragma once

#include <string>
#include <vector>

#include "driver/compilation.h"

namespace aotc::driver {

struct CycleEstimate {
  std::vector<int64_t> calls;  // in a run, all iterations together; empty: the core has no timing
  int64_t total = 0;           // of a run; 0: some call has no estimate
  int64_t most = 0;            // if every line of the board's flash costs its wait states; 0: the flash has no timing
};

// Estimates the cycles at the first call. Empty for a model of more than 50 million MACs.
const CycleEstimate& estimated_cycles(const Compiled& compiled);

// Instructions by the cost model of the target (plan/instructions.h), rather too high than too low.
struct InstructionEstimate {
  std::vector<int64_t> calls;  // in a run; 0: unknown
  int64_t total = 0;           // of a run; 0: some call has no estimate
};
InstructionEstimate estimated_instructions(const Compiled& compiled);

// " per iteration" if the model has a loop whose length is known only at run time: each figure counts one iteration.
// Else empty.
std::string per_iteration_text(const Compiled& compiled);

// The assumption for display: "of cortex-m4, no wait states".
std::string cycle_assumption(const Compiled& compiled);
// "29.3 to 44.1 ms at 120 MHz": at the board's full clock; empty if the clock or the cycles are unknown.
std::string milliseconds_text(const Compiled& compiled, const CycleEstimate& estimate);

}  // namespace aotc::driver
