// SPDX-License-Identifier: Apache-2.0
// Programs as aotc-opt's input and output: read, verified, divided into slices, run and printed.
#pragma once

#include <string>
#include <vector>

#include "plan/print.h"

namespace aotc {

struct PlanOptions {
  int64_t slice = 0;  // calls in parts of at most so many instructions; 0: whole
  int64_t constants_limit = INT64_MAX;
  std::vector<std::string> runs;  // by run: a list of values for each input
};

// Is this the text of a program?
bool is_plan(const std::string& text);

Result<plan::ReadProgram> read_plan(const std::string& text, const std::string& file, Diagnostics& diags);

// The program in slices, if they were asked for, and what it computes in the runs that were asked for, else itself.
// Reports [run-inputs], what plan::plan_bands and plan::verify do, and what running does.
Result<std::string> run_plan(plan::ReadProgram read, const PlanOptions& options, Diagnostics& diags);

}  // namespace aotc
