// SPDX-License-Identifier: Apache-2.0
// Lists the CPUs for which code can be compiled without naming a board: the CPUs of all boards, with their features,
// and CPUs of no board that a family of cores describes. A CPU is represented as a board without memories, so the size
// of a model is not limited.
#pragma once

#include <string>
#include <vector>

#include "project/board.h"

namespace aotc::project {

struct Cpu {
  std::string name;                 // "cortex-m4f": name of the core, including its floating-point unit
  Board board;                      // a board without memories, named like the CPU
  std::vector<std::string> boards;  // names of the boards with this CPU; may be empty
};

// All CPUs in alphabetical order. Reports the errors of find_board.
Result<std::vector<Cpu>> cpus(Diagnostics& diags);

// Finds "cortex-m4f", or "cortex-m4" if all boards with that core have the same features. Reports [cpu-unknown].
Result<Board> find_cpu(const std::string& name, Diagnostics& diags);

std::vector<std::string> cpu_names();

}  // namespace aotc::project
