// SPDX-License-Identifier: Apache-2.0
// Microkernels for three pixels in two words (ops/common/triple_kernel.h), for RV32IM: eight channels at a time, or
// four.
#pragma once

#include "cores/implementation.h"

namespace aotc::cores::riscv {

Implementation triples_rv32(const tir::Kernel& kernel);
// What fills its panel (ops/common/triple_pack.h).
Implementation triple_pack_rv32(const tir::Kernel& kernel);

}  // namespace aotc::cores::riscv
