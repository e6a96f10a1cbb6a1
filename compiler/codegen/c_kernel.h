// SPDX-License-Identifier: Apache-2.0
// A microkernel as C: one asm statement that saves what it uses where the compiler and the core allow
// it, the meaning in portable C otherwise.
#pragma once

#include <map>
#include <string>

#include "codegen/c_function.h"

namespace aotc::codegen {

// Kernels of a source that have assembly: how many by its condition, and what is true of the preprocessor on cores of
// their family.
struct KernelConditions {
  std::map<std::string, int> kernels;
  std::string family;
};

// `portable` is print_c_kernel() of the kernel. Counts in `conditions` if that is not null.
std::string kernel_definition(const tir::Kernel& kernel, const PrintedFunction& portable,
                              KernelConditions* conditions = nullptr);

// For the header of a model: PREFIX_KERNEL_COUNT, and PREFIX_KERNELS, how many of those are assembly where the header is
// read. Nothing if no kernel has assembly.
std::string kernel_macros(const KernelConditions& conditions, const std::string& prefix);

// For the source: a message where a core of the family gets portable halves.
std::string kernel_message(const KernelConditions& conditions, const std::string& prefix);

}  // namespace aotc::codegen
