// SPDX-License-Identifier: Apache-2.0
// Prints a microkernel as C: one asm statement that saves the registers it uses if the compiler and the core support
// it, else its meaning in portable C.
#pragma once

#include <map>
#include <string>

#include "codegen/c_function.h"

namespace aotc::codegen {

// The kernels of a source that have assembly: their number by condition, and the preprocessor condition for cores of
// their family.
struct KernelConditions {
  std::map<std::string, int> kernels;
  std::string family;
};

// `portable` is print_c_kernel() of the kernel. Adds the kernel to the counts in `conditions` if that is not null.
std::string kernel_definition(const tir::Kernel& kernel, const PrintedFunction& portable,
                              KernelConditions* conditions = nullptr);

// For a model's header: PREFIX_KERNEL_COUNT, and PREFIX_KERNELS, the number of kernels that use assembly in the
// including translation unit. Empty if no kernel has assembly.
std::string kernel_macros(const KernelConditions& conditions, const std::string& prefix);

// For the source: a compiler message if a core of the family gets the portable versions.
std::string kernel_message(const KernelConditions& conditions, const std::string& prefix);

}  // namespace aotc::codegen
