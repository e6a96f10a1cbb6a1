// SPDX-License-Identifier: Apache-2.0
// How often each call of a program runs in one run of the model, and what all of them take together.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/program.h"

namespace aotc::plan {

struct Executions {
  std::vector<int64_t> times;      // by call; of a branch as if it was taken, of a loop of unknown length one iteration
  std::vector<bool> per_iteration;  // by call: some loop around it has an unknown length
  bool known = true;               // no loop has: figures are of a run
};

Executions executions_of(const Program& program);

// Multiplications with an addition of a run, those of regions as total_of counts them.
int64_t macs_of(const graph::Graph& graph);

// Of a run, from what each call takes once: of two branches the larger counts, of a loop of unknown length one iteration.
int64_t total_of(const Program& program, const std::vector<int64_t>& once);

}  // namespace aotc::plan
