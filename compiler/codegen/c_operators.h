// SPDX-License-Identifier: Apache-2.0
// Prints operators on their own, for archives of the operator style: packed functions under names that
// no model is part of, and the system library that finds them. The one thing to know: constants are
// parameters, so operators of two models that differ in their weights alone are the same functions.
#pragma once

#include <string>
#include <vector>

#include "codegen/c_model.h"

namespace aotc::codegen {

struct OperatorLibrary {
  std::string registry;   // lib0.c: TVMSystemLibEntryPoint
  std::string operators;  // lib1.c: the functions and what they call
};

// `symbols` are the C names of `functions`, distinct; `prefix` begins the names of what is static.
// Of `options` only assembly and version count.
OperatorLibrary print_operators(const std::vector<tir::FunctionPtr>& functions,
                                const std::vector<std::string>& symbols,
                                const CodegenOptions& options);

}  // namespace aotc::codegen
