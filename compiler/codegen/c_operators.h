// SPDX-License-Identifier: Apache-2.0
// Prints operators alone, for archives of the operator style: packed functions whose names contain no model's name, and
// the system library that finds them. Constants are parameters, so operators of two models that differ only in their
// weights are the same functions.
#pragma once

#include <string>
#include <vector>

#include "codegen/c_model.h"

namespace aotc::codegen {

struct OperatorLibrary {
  std::string registry;   // lib0.c: TVMSystemLibEntryPoint
  std::string operators;  // lib1.c: the functions and their helpers
};

// `symbols` are the distinct C names of `functions`; `prefix` begins the names of static objects. Only assembly and
// version of `options` are used.
OperatorLibrary print_operators(const std::vector<tir::FunctionPtr>& functions, const std::vector<std::string>& symbols,
                                const CodegenOptions& options);

}  // namespace aotc::codegen
