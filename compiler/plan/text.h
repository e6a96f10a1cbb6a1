// SPDX-License-Identifier: Apache-2.0
// The text form of a program (docs/ir.md): memory, tables, functions, and the tree of calls. The text reads back to a
// program that runs and prints the same. It does not have the graph from which the program was planned, schedules and
// estimates.
#pragma once

#include <string>
#include <vector>

#include "plan/bands.h"
#include "plan/program.h"

namespace aotc::plan {

struct PrintOptions {
  bool functions = true;                // after the tree, in the text form of TIR
  int64_t constants_limit = INT64_MAX;  // tables with more bytes are printed as a hash, which does not read back
  const Bands* bands = nullptr;         // of a program in slices
};

std::string print(const Program& program, const PrintOptions& options);

// The functions, in the text form of TIR.
std::string print_functions(const Program& program);

struct ReadProgram {
  Program program;              // its graph has the ports, the states and the results of calls, and no operators
  Bands bands;                  // empty unless the program is in slices
  std::vector<Location> calls;  // their locations in the text
};

// Any bytes give a program or one located [program-parse] or [tir-parse] error. A returned program has the right syntax
// and refers to existing functions; `verify` checks the rest.
Result<ReadProgram> parse(const std::string& text, const std::string& file, Diagnostics& diags);

}  // namespace aotc::plan
