// SPDX-License-Identifier: Apache-2.0
// The microkernel for four units in a word (ops/common/quad_kernel.h), for RV32IM: one or two words at a time.
#pragma once

#include "cores/implementation.h"

namespace aotc::cores::riscv {

Implementation quads_rv32(const tir::Kernel& kernel);

}  // namespace aotc::cores::riscv
