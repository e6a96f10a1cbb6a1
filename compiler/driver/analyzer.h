// SPDX-License-Identifier: Apache-2.0
// Finds and runs aotc-analyze, the program that reads C sources. It is separate from aotc because it links LLVM and
// Clang.
#pragma once

#include <string>
#include <vector>

#include "support/diagnostics.h"
#include "support/result.h"

namespace aotc::driver {

// The path in the environment variable AOTC_ANALYZE, else the program beside aotc, else the one in PATH. Reports
// [tool-missing].
Result<std::string> find_analyzer(Diagnostics& diags);

// Runs a program with the standard streams of this process. Returns the program's exit code, or an ExitCode if it
// cannot be run.
int run_in_place(const std::string& program, const std::vector<std::string>& args);

}  // namespace aotc::driver
