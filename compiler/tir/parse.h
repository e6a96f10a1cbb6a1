// SPDX-License-Identifier: Apache-2.0
// Reading text with several functions, as programs have them (plan/print.h). The one thing to know: such functions
// may have scalars; one of a file of its own, which parse() reads, has none.
#pragma once

#include <string>
#include <vector>

#include "tir/tir.h"

namespace aotc::tir {

// The functions that stand one behind the other from byte `begin` of the text on, each behind the kernels that it
// runs. Reports [tir-parse].
Result<std::vector<FunctionPtr>> parse_functions(const std::string& text, size_t begin, const std::string& file,
                                                 Diagnostics& diags);

}  // namespace aotc::tir
