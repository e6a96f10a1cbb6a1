// SPDX-License-Identifier: Apache-2.0
// Disassembles a program with the toolchain's `objdump -d`, which is installed wherever an ELF was linked.
#pragma once

#include <string>

#include "machine/instruction.h"

namespace aotc::machine {

// `program`: the objdump to run; empty: the first installed one for the ELF's machine. Reports [tool-missing] and
// [tool-failed].
Decoder objdump_decoder(const std::string& program);
// As objdump_decoder, for an architecture that the ELF file does not state, such as "armv8.1-m.main" with vector
// instructions.
Decoder objdump_decoder_of(const std::string& program, const std::string& architecture);

// Parses the output of objdump.
Listing parse_objdump(Isa isa, const std::string& text);

}  // namespace aotc::machine
