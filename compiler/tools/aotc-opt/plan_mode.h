// SPDX-License-Identifier: Apache-2.0
// The program mode of aotc-opt: reads the text form of a program, verifies it, divides it into slices, and runs or
// prints it.
#pragma once

#include <string>
#include <vector>

#include "plan/text.h"

namespace aotc {

struct PlanOptions {
  int64_t slice = 0;  // limit on the instructions of a part of an operator call; 0: calls are not divided
  int64_t constants_limit = INT64_MAX;
  std::vector<std::string> runs;  // for each run: a list of values for each input
};

// True if the text is the text form of a program.
bool is_plan(const std::string& text);

Result<plan::ReadProgram> read_plan(const std::string& text, const std::string& file, Diagnostics& diags);

// Divides the program into slices if `options` requests them. Returns the outputs of the requested runs; without runs,
// the text of the program. Reports [run-inputs] and the errors of plan::plan_bands, plan::verify and the runs.
Result<std::string> run_plan(plan::ReadProgram read, const PlanOptions& options, Diagnostics& diags);

}  // namespace aotc
