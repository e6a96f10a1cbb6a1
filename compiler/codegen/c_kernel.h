// SPDX-License-Identifier: Apache-2.0
// A microkernel as C: one asm statement that saves what it uses where the compiler and the core allow
// it, the meaning in portable C otherwise.
#pragma once

#include <string>

#include "codegen/c_function.h"

namespace aotc::codegen {

// `portable` is print_c_kernel() of the kernel.
std::string kernel_definition(const tir::Kernel& kernel, const PrintedFunction& portable);

}  // namespace aotc::codegen
