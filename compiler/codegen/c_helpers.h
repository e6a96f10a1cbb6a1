// SPDX-License-Identifier: Apache-2.0
// Small functions of the emitted C, PREFIX_min_i32 and others: what expressions are calls of one,
// and how each is defined. The one thing to know: a helper says in one word what C says in casts;
// compilers make the same instructions of either.
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

// What an i32 expression is in one word, if there is one for it.
std::optional<HelperCall> helper_call(const tir::Expr& e);

// Names that helpers have behind the prefix.
std::vector<std::string> helper_names();

// Definition of a support function by its name, ending with a newline.
// `assembly`: with single instructions and barriers where the compiler and the core take them.
std::string support_definition(const std::string& name, const std::string& prefix,
                               bool assembly = true);

}  // namespace aotc::codegen
