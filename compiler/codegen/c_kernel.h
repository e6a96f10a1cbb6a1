// SPDX-License-Identifier: Apache-2.0
// Prints a microkernel as C. If the compiler and the core support the assembly of the kernel, the C is one asm
// statement, which saves the registers that it uses. Some kernels have C with intrinsics instead. Otherwise it is
// portable C.
#pragma once

#include <map>
#include <string>

#include "codegen/c_function.h"
#include "support/kernel_form.h"

namespace aotc::codegen {

// The kernels of a source file that have assembly or intrinsics. `kernels`: the number of kernels by the preprocessor
// condition under which that is compiled. `family`: the preprocessor condition for all cores of their family.
// `headers`: of intrinsics, with the condition of each.
struct KernelConditions {
  std::map<std::string, int> kernels;
  std::string family;
  std::map<std::string, std::string> headers;

  // "#include <...>" lines in their conditions, behind an empty line; empty without headers.
  std::string includes() const;
};

// `portable` is the result of print_c_kernel() for the kernel. Adds the kernel to the counts in `conditions`, unless it
// has no text in this form or `conditions` is null.
std::string kernel_definition(const tir::Kernel& kernel, const PrintedFunction& portable, KernelForm form,
                              KernelConditions* conditions = nullptr);

// Macros for a model's header. PREFIX_KERNEL_COUNT is the number of kernels with assembly; PREFIX_KERNELS is the number
// of kernels whose assembly the including translation unit uses. Empty if no kernel has assembly.
std::string kernel_macros(const KernelConditions& conditions, const std::string& prefix);

// For the source: a #pragma message for cores of the family that get portable versions.
std::string kernel_message(const KernelConditions& conditions, const std::string& prefix);

}  // namespace aotc::codegen
