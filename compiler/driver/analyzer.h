// SPDX-License-Identifier: Apache-2.0
// Where aotc-analyze is. It is a program of its own because it links LLVM and Clang, which aotc
// does not; nothing but reading C sources needs it.
#pragma once

#include <string>

#include "support/diagnostics.h"
#include "support/result.h"

namespace aotc::driver {

// Its path: what the environment variable AOTC_ANALYZE names, else beside aotc, else in PATH.
// Reports [tool-missing].
Result<std::string> find_analyzer(Diagnostics& diags);

}  // namespace aotc::driver
