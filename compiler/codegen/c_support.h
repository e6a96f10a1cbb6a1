// SPDX-License-Identifier: Apache-2.0
// The small functions and kernels that printed functions call, as the head of a C file. The one thing
// to know: they have to be printed before the functions, and after the includes.
#pragma once

#include <string>
#include <string_view>

#include "codegen/c_kernel.h"
#include "codegen/c_model.h"

namespace aotc::codegen {

// The first line of every file of C that aotc writes: its user's, without conditions (see LICENSE).
inline constexpr std::string_view kLicenceLine = "/* SPDX-License-Identifier: 0BSD */\n";

// Adds to `use` what the kernels' portable halves call, and returns the definitions of the kernels. Counts in `conditions`
// if that is not null.
std::string kernel_definitions(SupportUse& use, const std::string& prefix, KernelConditions* conditions = nullptr);

// The support functions in `use`, each followed by an empty line, after what floating-point code needs.
std::string support_functions(const SupportUse& use, const CodegenOptions& options);

// Both, in the order of a file.
std::string support_definitions(SupportUse& use, const CodegenOptions& options);

}  // namespace aotc::codegen
