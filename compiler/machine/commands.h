// SPDX-License-Identifier: Apache-2.0
// `analyze stack` and `analyze size`: the same in aotc, which has objdump disassemble, and in aotc-analyze,
// which has LLVM.
#pragma once

#include <string>

#include "machine/instruction.h"
#include "options/options.h"

namespace aotc::machine {

// Makes a decoder; the argument is what --objdump names, or empty.
using DecoderChoice = std::function<Decoder(const std::string&)>;

options::Command stack_declaration(const DecoderChoice& decoder);
options::Command size_declaration(const DecoderChoice& decoder);

// What both have in common. Exit codes are those of aotc.
inline constexpr int kDone = 0, kBadInput = 1, kTooMuch = 3, kToolMissing = 5;
// Prints the messages and gives the exit code.
int failed(const Diagnostics& diags);
// Reports what Elf::read does, and [file-read].
Result<Elf> read_program(const std::string& path, Diagnostics& diags);
// All functions of the names: static ones may share one. Reports [function-unknown].
std::vector<uint32_t> functions_named(const Elf& elf, const std::string& name, Diagnostics& diags);
// The functions of --root: without names, where the program begins.
std::vector<uint32_t> roots_named(const Elf& elf, const std::vector<std::string>& names, Diagnostics& diags);
options::Option firmware_option(std::string& target);
options::Option objdump_option(std::string& target);

}  // namespace aotc::machine
