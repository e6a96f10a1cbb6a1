// SPDX-License-Identifier: Apache-2.0
// Instructions that a call of a program runs on a CPU, without a compiler for it: kernels in
// Thumb-2 are stepped through, and of everything else the operations of the lowered function are
// counted, each with what compilers make of it there. The one thing to know: it errs on the side of
// more, so that a slice takes no longer than is said (docs/emitted-c.md has by how much).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/program.h"

namespace aotc::plan {

// What NAME_step adds to the call that it makes.
inline constexpr int64_t kStepInstructions = 60;

// By call of the program, with what NAME_step adds; 0 for a function that was given in C, of which
// nothing is known.
std::vector<int64_t> instructions_of_calls(const Program& program, const ops::TargetInfo& target);

// The expected instructions of each call, where instructions_of_calls() errs on the side of more. They do not include
// what NAME_step adds.
std::vector<int64_t> estimated_instructions_of_calls(const Program& program, const ops::TargetInfo& target);

// By row of a program whose input is fed: what NAME_feed takes at most; the last feed makes all
// other calls as well. Empty if some function was given in C.
std::vector<int64_t> instructions_of_feeds(const Program& program, const ops::TargetInfo& target);

// Cycles of each call without what NAME_step adds, in the mean and not rather more, memory being without wait states
// (docs/cycles.md). 0 for a function that was given in C; empty for a core of which nothing is known.
std::vector<int64_t> cycles_of_calls(const Program& program, const ops::TargetInfo& target);

}  // namespace aotc::plan
