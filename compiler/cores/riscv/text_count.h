// SPDX-License-Identifier: Apache-2.0
// How many instructions a kernel in RISC-V's assembly runs: its text is stepped through with the numbers that decide
// its branches, macros written out. The one thing to know: only words of tables and of the stack are computed with;
// where other data decides a branch, the longer way is taken.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cores/implementation.h"

namespace aotc::cores::riscv {

// Nothing where a loop's end is not known.
std::optional<int64_t> count_instructions(const Implementation& kernel, const std::vector<CountArgument>& arguments);
// The same by stepping through every iteration of every loop, for tests.
std::optional<int64_t> count_every_step(const Implementation& kernel, const std::vector<CountArgument>& arguments);

// What they take (machine/timing.h); nothing where count_instructions says nothing.
std::optional<double> count_cycles(const Implementation& kernel, const std::vector<CountArgument>& arguments,
                                   const machine::Timing& timing);

}  // namespace aotc::cores::riscv
