// SPDX-License-Identifier: Apache-2.0
// The CPUs that code can be made for without naming a board: those of the boards, with what they
// have. The one thing to know: a CPU is a board without memories, so nothing limits a model for it.
#pragma once

#include <string>
#include <vector>

#include "project/board.h"

namespace aotc::project {

struct Cpu {
  std::string name;                 // "cortex-m4f": as people call the core with its floating point
  Board board;                      // its name is the CPU's
  std::vector<std::string> boards;  // who has it
};

// In alphabetical order. Reports what find_board reports.
Result<std::vector<Cpu>> cpus(Diagnostics& diags);

// "cortex-m4f", or "cortex-m4" where all boards with that core have the same. Reports
// [cpu-unknown].
Result<Board> find_cpu(const std::string& name, Diagnostics& diags);

std::vector<std::string> cpu_names();

}  // namespace aotc::project
