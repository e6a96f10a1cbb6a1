// SPDX-License-Identifier: Apache-2.0
// Prints the head of a C file: the helper functions and kernels that its functions call. They are placed after the
// includes and before the functions.
#pragma once

#include <string>
#include <string_view>

#include "codegen/c_kernel.h"
#include "codegen/c_model.h"

namespace aotc::codegen {

// The first line of every C file that aotc writes: the file belongs to its user without conditions (see LICENSE).
inline constexpr std::string_view kLicenceLine = "/* SPDX-License-Identifier: 0BSD */\n";

// Adds the helpers of the kernels' portable versions to `use`, and returns the definitions of the kernels. Counts in
// `conditions` unless that is null.
std::string kernel_definitions(SupportUse& use, const std::string& prefix, KernelConditions* conditions = nullptr);

// The support functions in `use`, each followed by an empty line, after the checks for floating-point code.
std::string support_functions(const SupportUse& use, const CodegenOptions& options);

// Kernels and support functions, in the order of a file.
std::string support_definitions(SupportUse& use, const CodegenOptions& options);

}  // namespace aotc::codegen
