// SPDX-License-Identifier: Apache-2.0
// `analyze stack` and `analyze size`, shared by aotc, which disassembles with objdump, and aotc-analyze, which uses
// LLVM.
#pragma once

#include <string>

#include "machine/instruction.h"
#include "options/options.h"

namespace aotc::machine {

// Creates a decoder; the argument is the value of --objdump, or empty.
using DecoderChoice = std::function<Decoder(const std::string&)>;

options::Command stack_declaration(const DecoderChoice& decoder);
options::Command size_declaration(const DecoderChoice& decoder);

// Exit codes, the same as aotc's.
inline constexpr int kDone = 0, kBadInput = 1, kTooMuch = 3, kToolMissing = 5;
// Prints the messages and returns the exit code.
int failed(const Diagnostics& diags);
// Reports the errors of Elf::read, and [file-read].
Result<Elf> read_program(const std::string& path, Diagnostics& diags);
// All functions with these names: several static ones may share a name. Reports [function-unknown].
std::vector<uint32_t> functions_named(const Elf& elf, const std::string& name, Diagnostics& diags);
// The functions of --root; without names, the entry point.
std::vector<uint32_t> roots_named(const Elf& elf, const std::vector<std::string>& names, Diagnostics& diags);
options::Option firmware_option(std::string& target);
options::Option objdump_option(std::string& target);

}  // namespace aotc::machine
