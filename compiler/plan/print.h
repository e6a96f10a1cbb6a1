// SPDX-License-Identifier: Apache-2.0
// A program as text: what runs when, on which memory, with which functions and tables. The one thing to know:
// the text reads back to a program that runs and prints the same (docs/ir.md), but the graph that it was made of,
// schedules and estimates are not in it.
#pragma once

#include <string>
#include <vector>

#include "plan/bands.h"
#include "plan/program.h"

namespace aotc::plan {

struct PrintOptions {
  bool functions = true;                // behind the tree, in the text form of TIR
  int64_t constants_limit = INT64_MAX;  // tables with more bytes are printed as a hash, which does not read back
  const Bands* bands = nullptr;         // of a program in slices
};

std::string print(const Program& program, const PrintOptions& options);

// The functions, in the text form of TIR.
std::string print_functions(const Program& program);

struct ReadProgram {
  Program program;              // its graph has the ports, the states and what calls compute, and no operators
  Bands bands;                  // none, if the program is not one in slices
  std::vector<Location> calls;  // where each stands in the text
};

// Any bytes give a program or one located [program-parse] or [tir-parse] error. What comes out has the right syntax
// and functions that there are; `verify` checks the rest.
Result<ReadProgram> parse(const std::string& text, const std::string& file, Diagnostics& diags);

}  // namespace aotc::plan
