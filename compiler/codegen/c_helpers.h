// SPDX-License-Identifier: Apache-2.0
// Helper functions of the emitted C (PREFIX_min_i32 and others). This file selects the expressions that become helper
// calls, and prints the definitions. A call is easier to read than an expression with casts; compilers generate the
// same instructions for both.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tir/tir.h"

namespace aotc::codegen {

// A call of a helper with i32 arguments.
struct HelperCall {
  const char* name;
  std::vector<tir::ExprPtr> arguments;
};

// The helper call for an i32 expression; nullopt if there is none.
std::optional<HelperCall> helper_call(const tir::Expr& e);

// The names of all helpers, without the prefix.
std::vector<std::string> helper_names();

// The definition of the helper function `name`, ending with a newline. `assembly`: use single instructions and barriers
// if the compiler and the core support them.
std::string support_definition(const std::string& name, const std::string& prefix, bool assembly = true);

}  // namespace aotc::codegen
