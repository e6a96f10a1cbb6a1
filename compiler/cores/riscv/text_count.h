// SPDX-License-Identifier: Apache-2.0
// How many instructions a kernel in RISC-V's assembly runs: its text is stepped through with the numbers that decide
// its branches, macros written out. The one thing to know: only words of tables and of the stack are computed with;
// where other data decides a branch, the longer way is taken.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cores/implementation.h"

namespace aotc::cores::riscv {

// nullopt if the end of a loop is unknown.
std::optional<int64_t> count_instructions(const Implementation& kernel, const std::vector<CountArgument>& arguments);
// The same by stepping through every iteration of every loop, for tests.
std::optional<int64_t> count_every_step(const Implementation& kernel, const std::vector<CountArgument>& arguments);

// The cycles of these instructions (machine/timing.h); nullopt if count_instructions returns nullopt.
std::optional<double> count_cycles(const Implementation& kernel, const std::vector<CountArgument>& arguments,
                                   const machine::Timing& timing);

// Labels and instructions of these lines, in order, with macros expanded and without directives and notes. A parameter
// is written as in a C string, "\\\\o".
std::vector<std::string> without_macros(const std::vector<std::string>& lines);

std::vector<std::string> split(std::string_view text, char at);

// "lw", "a4,8(a1)"; nothing behind a word that stands alone.
std::pair<std::string, std::string> in_two(const std::string& line);

}  // namespace aotc::cores::riscv
