// SPDX-License-Identifier: Apache-2.0
// Parses texts with several functions, as programs contain (plan/print.h). Such functions may have scalars; a function
// in its own file, which parse() reads, has none.
#pragma once

#include <string>
#include <vector>

#include "tir/tir.h"

namespace aotc::tir {

// The consecutive functions from byte `begin` of the text on, each preceded by its kernels. Reports [tir-parse].
Result<std::vector<FunctionPtr>> parse_functions(const std::string& text, size_t begin, const std::string& file,
                                                 Diagnostics& diags);

}  // namespace aotc::tir
