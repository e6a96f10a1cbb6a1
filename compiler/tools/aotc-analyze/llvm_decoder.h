// SPDX-License-Identifier: Apache-2.0
// Disassembles a program with LLVM, if no toolchain's objdump is installed.
#pragma once

#include "machine/instruction.h"

namespace aotc::analyze {

// Returns a decoder, which reads from the ELF file's attributes and flags which instructions the CPU has. It reports
// [tool-failed].
machine::Decoder llvm_decoder();

}  // namespace aotc::analyze
