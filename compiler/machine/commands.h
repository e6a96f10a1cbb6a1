// SPDX-License-Identifier: Apache-2.0
// The commands `analyze stack` and `analyze size`. The program aotc disassembles with objdump for them, the program
// aotc-analyze with LLVM.
#pragma once

#include <string>

#include "machine/instruction.h"
#include "options/options.h"

namespace aotc::machine {

// Creates the decoder that disassembles the program. The argument is the value of --objdump, or empty.
using DecoderChoice = std::function<Decoder(const std::string&)>;

options::Command stack_declaration(const DecoderChoice& decoder);
options::Command size_declaration(const DecoderChoice& decoder);

// Exit codes of the commands, equal to aotc's.
inline constexpr int kDone = 0, kBadInput = 1, kTooMuch = 3, kToolMissing = 5;
// Prints the messages, and returns the exit code for them.
int failed(const Diagnostics& diags);
// Reads an ELF file. Reports [file-read] and the errors of Elf::read.
Result<Elf> read_program(const std::string& path, Diagnostics& diags);
// Returns the addresses of all functions with this name; several static functions may share it. Reports
// [function-unknown].
std::vector<uint32_t> functions_named(const Elf& elf, const std::string& name, Diagnostics& diags);
// Returns the addresses of the functions that --root names; if `names` is empty, the program's entry point.
std::vector<uint32_t> roots_named(const Elf& elf, const std::vector<std::string>& names, Diagnostics& diags);
options::Option firmware_option(std::string& target);
options::Option objdump_option(std::string& target);

}  // namespace aotc::machine
