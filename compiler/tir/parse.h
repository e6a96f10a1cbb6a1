// SPDX-License-Identifier: Apache-2.0
// Parses several TIR functions from the text of a program (plan/print.h). These functions may have scalar parameters; a
// function in its own file, which parse() reads, may not.
#pragma once

#include <string>
#include <vector>

#include "tir/tir.h"

namespace aotc::tir {

// Parses consecutive functions from byte `begin` of the text on; the kernels of a function precede it. Reports
// [tir-parse].
Result<std::vector<FunctionPtr>> parse_functions(const std::string& text, size_t begin, const std::string& file,
                                                 Diagnostics& diags);

}  // namespace aotc::tir
