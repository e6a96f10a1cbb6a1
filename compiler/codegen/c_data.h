// SPDX-License-Identifier: Apache-2.0
// Prints a model's tables (weights and other constants) as C. NAME_data.h declares them for all files of the model;
// NAME_data.c defines them. If the caller provides the pool of constants, NAME_constants.h contains its bytes instead.
// Every printed number reads back as the same value.
#pragma once

#include <string>

#include "codegen/c_model.h"

namespace aotc::codegen {

// Appends the elements of a table to `s`, each followed by a comma, on lines of at most 100 characters. An empty table
// gives one 0. The function appends instead of returning text to save memory: the tables are the longest text.
void print_numbers(std::string& s, const ops::Constant& table);

// C that defines `macro`(n) unless the user has defined it. The macro aligns the declaration after it to n bytes.
// `prefix`: the model's prefix.
std::string alignment_macro(const std::string& macro, const std::string& prefix);

// The text after the first comment of NAME_data.h. It declares every table with its alignment and its section or
// memory, so users of a table assume only what its definition provides. If `floating` (the model computes with floats),
// the text also checks the compiler's precision of floats. `names` contains the names of the tables.
std::string data_header(const plan::Program& program, const CodegenOptions& options, const ModelFiles& names,
                        bool floating);

// Appends the text after the first comment of NAME_data.c: the tables, and the arena if the model owns one.
void append_data_source(std::string& s, const plan::Program& program, const CodegenOptions& options,
                        const ModelFiles& names);

// A header that defines PREFIX_CONSTANT_POOL_DATA: the bytes of all tables in the pool of constants.
std::string constant_pool_header(const plan::Program& program, const CodegenOptions& options);

}  // namespace aotc::codegen
