// SPDX-License-Identifier: Apache-2.0
// Where aotc-analyze is. It is a program of its own because it links LLVM and Clang, which aotc
// does not; nothing but reading C sources needs it.
#pragma once

#include <string>
#include <vector>

#include "support/diagnostics.h"
#include "support/result.h"

namespace aotc::driver {

// Its path: what the environment variable AOTC_ANALYZE names, else beside aotc, else in PATH.
// Reports [tool-missing].
Result<std::string> find_analyzer(Diagnostics& diags);

// Runs a program with our own standard streams; gives its exit code, or that of a message.
int run_in_place(const std::string& program, const std::vector<std::string>& args);

}  // namespace aotc::driver
