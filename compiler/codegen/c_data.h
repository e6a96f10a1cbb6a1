// SPDX-License-Identifier: Apache-2.0
// A model's tables as C text: NAME_data.h, which declares them once for all files of the model, the
// definitions in NAME_data.c, and the pool of constants that a caller fills. The one thing to know: every
// number reads back as the very same value.
#pragma once

#include <string>

#include "codegen/c_model.h"

namespace aotc::codegen {

// Appends the elements of a table, separated and ended by commas, on lines of at most 100 characters;
// one 0 for a table of nothing. Appends, for the text of the tables is the largest thing in memory.
void print_numbers(std::string& s, const ops::Constant& table);

// Defines `macro`(n), unless the user did: what aligns a declaration behind it to n bytes. `prefix` is of the model.
std::string alignment_macro(const std::string& macro, const std::string& prefix);

// What follows the first comment of NAME_data.h: every table with its alignment, section or memory, so
// that no file assumes more of it than the other provides; and for models that compute with floats, what
// the compiler has to be like. `names` has the names of the tables.
std::string data_header(const plan::Program& program, const CodegenOptions& options,
                        const ModelFiles& names, bool floating);

// Appends what follows the first comment of NAME_data.c: the tables, and the arena if it is the model's.
void append_data_source(std::string& s, const plan::Program& program, const CodegenOptions& options,
                        const ModelFiles& names);

// All tables as the bytes of the pool of constants, as a header that defines PREFIX_CONSTANT_POOL_DATA.
std::string constant_pool_header(const plan::Program& program, const CodegenOptions& options);

}  // namespace aotc::codegen
