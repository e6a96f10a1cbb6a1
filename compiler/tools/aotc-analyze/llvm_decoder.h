// SPDX-License-Identifier: Apache-2.0
// The listing of a program by LLVM's disassembler, where no toolchain's objdump is at hand.
#pragma once

#include "machine/instruction.h"

namespace aotc::analyze {

// Which instructions the CPU has is what the ELF's attributes and flags say. Reports [tool-failed].
machine::Decoder llvm_decoder();

}  // namespace aotc::analyze
