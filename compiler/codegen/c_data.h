// SPDX-License-Identifier: Apache-2.0
// Prints a model's tables as C: NAME_data.h, which declares them once for all files of the model, the definitions in
// NAME_data.c, and the pool of constants that a caller fills. Every printed number reads back as the same value.
#pragma once

#include <string>

#include "codegen/c_model.h"

namespace aotc::codegen {

// Appends the elements of a table, separated and ended by commas, on lines of at most 100 characters; one 0 for an
// empty table. Appends to limit memory: the text of the tables is the largest object.
void print_numbers(std::string& s, const ops::Constant& table);

// Defines `macro`(n), unless the user defined it: it aligns the declaration after it to n bytes. `prefix`: the model's
// prefix.
std::string alignment_macro(const std::string& macro, const std::string& prefix);

// The text after the first comment of NAME_data.h: every table with its alignment, section or memory, so that no file
// assumes more than the other provides; for models that compute with floats also the requirements on the compiler.
// `names` has the names of the tables.
std::string data_header(const plan::Program& program, const CodegenOptions& options, const ModelFiles& names,
                        bool floating);

// Appends the text after the first comment of NAME_data.c: the tables, and the arena if the model has its own.
void append_data_source(std::string& s, const plan::Program& program, const CodegenOptions& options,
                        const ModelFiles& names);

// A header that defines PREFIX_CONSTANT_POOL_DATA: the bytes of all tables in the pool of constants.
std::string constant_pool_header(const plan::Program& program, const CodegenOptions& options);

}  // namespace aotc::codegen
