// SPDX-License-Identifier: Apache-2.0
// An independent check of a memory plan by execution: the TIR interpreter runs the program while every
// byte of its memory carries the name of the value that was last written there, and which byte of it. What
// a reader must find follows from the graph with its regions, walked beside the program. No solver, no
// intervals, no trust in what lowerings say of their write order, none in what the planner calls a move.
#pragma once

#include <string>
#include <vector>

#include "plan/program.h"

namespace aotc::tests {

// Empty if every byte that is read is that of the value that the reader means, in every one of the runs,
// else what is wrong. States keep what the run before left in them.
std::string check_memory(const plan::Program& program, const std::vector<std::vector<std::vector<uint8_t>>>& runs);

// The steps with all turns of repeats one after the other.
std::vector<plan::ProgramStep> without_repeats(const std::vector<plan::ProgramStep>& steps);

}  // namespace aotc::tests
