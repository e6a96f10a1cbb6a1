// SPDX-License-Identifier: Apache-2.0
// Helper functions of the emitted C (PREFIX_min_i32 and others): which expressions become calls of one, and their
// definitions. A helper replaces casts by one word; compilers generate the same instructions for both.
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

// The names of helpers without the prefix.
std::vector<std::string> helper_names();

// Definition of a support function by its name, ending with a newline. `assembly`: use single instructions and barriers
// if the compiler and the core support them.
std::string support_definition(const std::string& name, const std::string& prefix, bool assembly = true);

}  // namespace aotc::codegen
