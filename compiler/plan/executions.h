// SPDX-License-Identifier: Apache-2.0
// How often each call of a program runs in one run of the model, and what all of them take together.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/program.h"

namespace aotc::plan {

// Loops in loops make products that 64 bits do not hold. Figures of work end at what a number of JSON holds exactly.
inline constexpr int64_t kMostWork = int64_t{1} << 53;
// work * times, at most kMostWork. Neither is negative.
int64_t multiplied(int64_t work, int64_t times);

struct Executions {
  std::vector<int64_t> times;  // by call; of a branch as if it was taken, of a loop of unknown length one iteration
  std::vector<bool> per_iteration;  // by call: some loop around it has an unknown length
  bool known = true;                // no loop has: figures are of a run
};

Executions executions_of(const Program& program);

// Multiplications with an addition of a run, those of regions as total_of counts them.
int64_t macs_of(const graph::Graph& graph);

// The work of a run, from that of one execution of each call. The larger of two branches counts, and one iteration of a
// loop of unknown length.
int64_t total_of(const Program& program, const std::vector<int64_t>& once);

}  // namespace aotc::plan
