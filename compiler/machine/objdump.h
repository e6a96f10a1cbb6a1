// SPDX-License-Identifier: Apache-2.0
// Disassembles a program with the toolchain's `objdump -d`, which is installed wherever an ELF was linked.
#pragma once

#include <string>

#include "machine/instruction.h"

namespace aotc::machine {

// `program`: empty for the first installed objdump for the ELF's machine. Reports [tool-missing] and [tool-failed].
Decoder objdump_decoder(const std::string& program);
// Disassembles for an architecture that the file does not state: "armv8.1-m.main" for vectors.
Decoder objdump_decoder_of(const std::string& program, const std::string& architecture);

// Parses the output of objdump; for tests as well.
Listing parse_objdump(Isa isa, const std::string& text);

}  // namespace aotc::machine
