// SPDX-License-Identifier: Apache-2.0
// The CPUs for which code can be compiled without naming a board: those of the boards, with their features. A CPU is a
// board without memories, so nothing limits a model for it.
#pragma once

#include <string>
#include <vector>

#include "project/board.h"

namespace aotc::project {

struct Cpu {
  std::string name;                 // "cortex-m4f": the core's name including its floating point
  Board board;                      // named like the CPU
  std::vector<std::string> boards;  // the boards that have it
};

// All CPUs in alphabetical order. Reports the errors of find_board.
Result<std::vector<Cpu>> cpus(Diagnostics& diags);

// Finds "cortex-m4f", or "cortex-m4" if all boards with that core have the same features. Reports [cpu-unknown].
Result<Board> find_cpu(const std::string& name, Diagnostics& diags);

std::vector<std::string> cpu_names();

}  // namespace aotc::project
