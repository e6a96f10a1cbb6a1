// SPDX-License-Identifier: Apache-2.0
// Prints operators without a model, for Model Library Format archives of style "operator": packed functions, and the
// system library that finds them by name. Function names contain no model name, and constants are parameters. So
// operators that differ only in their weights are the same function.
#pragma once

#include <string>
#include <vector>

#include "codegen/c_model.h"

namespace aotc::codegen {

struct OperatorLibrary {
  std::string registry;   // lib0.c: TVMSystemLibEntryPoint
  std::string operators;  // lib1.c: the functions and their helpers
};

// `symbols`: the C names of `functions`, all distinct. `options`: only the prefix (for the names of static objects),
// assembly and version are used.
OperatorLibrary print_operators(const std::vector<tir::FunctionPtr>& functions, const std::vector<std::string>& symbols,
                                const CodegenOptions& options);

}  // namespace aotc::codegen
