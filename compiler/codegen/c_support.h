// SPDX-License-Identifier: Apache-2.0
// Prints the helper functions and kernels that the functions of a C file call. They are placed after the includes and
// before the functions.
#pragma once

#include <string>
#include <string_view>

#include "codegen/c_kernel.h"
#include "codegen/c_model.h"

namespace aotc::codegen {

// The first line of every C file that aotc writes: the file belongs to its user without conditions (see LICENSE).
inline constexpr std::string_view kLicenceLine = "/* SPDX-License-Identifier: 0BSD */\n";

// Returns the definitions of the kernels in `use`, and adds to `use` the helpers that the portable versions of these
// kernels call. Counts the kernels in `conditions` unless that is null.
std::string kernel_definitions(SupportUse& use, const CodegenOptions& options, KernelConditions* conditions = nullptr);

// The helper functions in `use`, each followed by an empty line. Before them are directives against compiler options
// that change floating-point results.
std::string support_functions(const SupportUse& use, const CodegenOptions& options);

// The helper functions and kernels in `use`, in the order of a file. Counts the kernels in `conditions`.
std::string support_definitions(SupportUse& use, const CodegenOptions& options, KernelConditions& conditions);

}  // namespace aotc::codegen
