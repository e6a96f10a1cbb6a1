// SPDX-License-Identifier: Apache-2.0
// Estimates the code size, instructions and cycles of a compiled model before firmware is built.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "driver/compilation.h"
#include "project/board.h"

namespace aotc::driver {

// Estimated code bytes of a firmware that contains these files (name -> content). The estimate is more often too high
// than too low.
int64_t code_of_firmware(const std::map<std::string, std::string>& files, const project::Board& board);

// Estimated code bytes of the model's own files.
int64_t code_of_model(const std::map<std::string, std::string>& files);

// Estimates the cycles of each call of a compiled model from the core's documented instruction timing
// (plan/instructions.h). Only CycleEstimate::most includes wait states of memory.
struct CycleEstimate {
  std::vector<int64_t> calls;  // by call: the sum over all its executions in a run; empty: no estimate
  int64_t total = 0;           // cycles of a run; 0: some call has no estimate
  int64_t most = 0;            // cycles of a run with the wait states of all flash reads; 0: the flash has no timing
};

// The first call computes the estimate and stores it in `compiled`.
const CycleEstimate& estimated_cycles(const Compiled& compiled);

// The highest clock of the board in Hz; 0: no board is named, or its clock is unknown.
double full_clock_hz(const Compiled& compiled);

// Expected instructions (plan/instructions.h).
struct InstructionEstimate {
  std::vector<int64_t> calls;  // by call: the sum over all its executions in a run; 0: unknown
  int64_t total = 0;           // instructions of a run; 0: some call has no estimate
};
InstructionEstimate estimated_instructions(const Compiled& compiled);

// " per iteration" if the model has a loop whose length is known only at run time; the figures then count one
// iteration. Otherwise empty.
std::string per_iteration_text(const Compiled& compiled);

// The assumption for display: "of cortex-m4, no wait states".
std::string cycle_assumption(const Compiled& compiled);
// "29.3 to 44.1 ms at 120 MHz": at the board's full clock; empty if the clock or the cycles are unknown.
std::string milliseconds_text(const Compiled& compiled, const CycleEstimate& estimate);

}  // namespace aotc::driver
