// SPDX-License-Identifier: Apache-2.0
// The numbers of a model's tables as C text: initialisers of arrays, and of the pool of constants that a
// caller fills. The one thing to know: every number reads back as the very same value.
#pragma once

#include <string>

#include "codegen/c_model.h"

namespace aotc::codegen {

// Appends the elements of a table, separated and ended by commas, on lines of at most 100 characters;
// one 0 for a table of nothing. Appends, for the text of the tables is the largest thing in memory.
void print_numbers(std::string& s, const ops::Constant& table);

// All tables as the bytes of the pool of constants, as a header that defines PREFIX_CONSTANT_POOL_DATA.
std::string constant_pool_header(const plan::Program& program, const CodegenOptions& options);

}  // namespace aotc::codegen
