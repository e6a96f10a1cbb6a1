// SPDX-License-Identifier: Apache-2.0
// What PREFIX.h declares, in Rust: sizes, structs of inputs and outputs, functions. The one thing to
// know: it is for models that are called in the plain way with one arena, with or without state.
#pragma once

#include <string>

#include "codegen/c_model.h"

namespace aotc::codegen {

// Items of a module, with the names that they have in C. `c` is what print_model gave for the program.
std::string rust_interface(const plan::Program& program, const std::string& prefix, const ModelFiles& c);

}  // namespace aotc::codegen
