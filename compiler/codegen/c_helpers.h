// SPDX-License-Identifier: Apache-2.0
// Helper functions of the emitted C (PREFIX_min_i32 and others). This file selects the expressions that become helper
// calls, and prints the definitions. A call is easier to read than an expression with casts; compilers generate the
// same instructions for both.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/kernel_form.h"
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

// The extensions that definitions of helpers use if the compiler and the core have them.
struct HelperForm {
  bool assembly = true;     // single instructions and barriers
  bool intrinsics = false;  // ACLE intrinsics, if the file has intrinsic_includes()
};
// For a file whose code calls the helpers `functions`.
HelperForm helper_form(const std::set<std::string>& functions, KernelForm kernels);

// Includes the header of ACLE intrinsics where the compiler has them, and defines PREFIX_ACLE there. Empty if `form`
// has no intrinsics.
std::string intrinsic_includes(HelperForm form, const std::string& prefix);

// The definition of the helper function `name`, ending with a newline.
std::string support_definition(const std::string& name, const std::string& prefix, HelperForm form = {});

}  // namespace aotc::codegen
