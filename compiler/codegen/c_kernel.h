// SPDX-License-Identifier: Apache-2.0
// Prints a microkernel as C. If the compiler and the core support the assembly of the kernel, the C is one asm
// statement, which saves the registers that it uses. Otherwise it is portable C.
#pragma once

#include <map>
#include <string>

#include "codegen/c_function.h"
#include "support/kernel_form.h"

namespace aotc::codegen {

// The kernels of a source file that have assembly. `kernels`: the number of kernels by the preprocessor condition under
// which their assembly is compiled. `family`: the preprocessor condition for all cores of their family.
struct KernelConditions {
  std::map<std::string, int> kernels;
  std::string family;
};

// `portable` is the result of print_c_kernel() for the kernel. With kAssembly, adds the kernel to the counts in
// `conditions`, unless it has no assembly or `conditions` is null.
std::string kernel_definition(const tir::Kernel& kernel, const PrintedFunction& portable, KernelForm form,
                              KernelConditions* conditions = nullptr);

// Macros for a model's header. PREFIX_KERNEL_COUNT is the number of kernels with assembly; PREFIX_KERNELS is the number
// of kernels whose assembly the including translation unit uses. Empty if no kernel has assembly.
std::string kernel_macros(const KernelConditions& conditions, const std::string& prefix);

// For the source: a #pragma message for cores of the family that get portable versions.
std::string kernel_message(const KernelConditions& conditions, const std::string& prefix);

}  // namespace aotc::codegen
