// SPDX-License-Identifier: Apache-2.0
// Prints the declarations of PREFIX.h in Rust: sizes, structs of inputs and outputs, functions. It supports models with
// the plain convention and one arena, with or without state.
#pragma once

#include <string>

#include "codegen/c_model.h"

namespace aotc::codegen {

// The items of a Rust module, named as in C. `c`: the result of print_model for the program.
std::string rust_interface(const plan::Program& program, const std::string& prefix, const ModelFiles& c);

}  // namespace aotc::codegen
