// SPDX-License-Identifier: Apache-2.0
// How many instructions a kernel in Thumb-2 runs: its text is stepped through with the numbers that
// decide its branches. The one thing to know: only these are computed; what is loaded from memory
// that is not given is unknown, and a branch that depends on it ends the count, unless a note says how often it is
// taken.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "cores/implementation.h"

namespace aotc::cores::arm {

// Before a branch: "@ taken at most 3 times". So often it counts as taken where data decides.
inline constexpr std::string_view kTakenAtMost = "@ taken at most ";

// Nothing where unknown data decides.
std::optional<int64_t> count_instructions(const Implementation& kernel, const std::vector<CountArgument>& arguments);
// The same by stepping through every iteration of every loop, for tests.
std::optional<int64_t> count_every_step(const Implementation& kernel, const std::vector<CountArgument>& arguments);

// What they take (machine/timing.h); nothing where count_instructions says nothing.
std::optional<double> count_cycles(const Implementation& kernel, const std::vector<CountArgument>& arguments,
                                   const machine::Timing& timing);

}  // namespace aotc::cores::arm
