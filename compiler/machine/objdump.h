// SPDX-License-Identifier: Apache-2.0
// The listing of a program by the toolchain's `objdump -d`, which is there wherever an ELF was linked.
#pragma once

#include <string>

#include "machine/instruction.h"

namespace aotc::machine {

// `program`: empty for the first of those that belong to the ELF's machine which is installed. Reports
// [tool-missing] and [tool-failed].
Decoder objdump_decoder(const std::string& program);
// The same for an architecture that the file does not name to it: "armv8.1-m.main" for vectors.
Decoder objdump_decoder_of(const std::string& program, const std::string& architecture);

// What such a program printed; for tests as well.
Listing parse_objdump(Isa isa, const std::string& text);

}  // namespace aotc::machine
