// SPDX-License-Identifier: Apache-2.0
// Disassembles a program with LLVM, if no toolchain's objdump is installed.
#pragma once

#include "machine/instruction.h"

namespace aotc::analyze {

// The ELF's attributes and flags decide which instructions the CPU has. Reports [tool-failed].
machine::Decoder llvm_decoder();

}  // namespace aotc::analyze
