// SPDX-License-Identifier: Apache-2.0
// Instructions in the text form of a disassembler. Analyses use this text only, so binutils and LLVM are
// interchangeable.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "machine/elf.h"

namespace aotc::machine {

struct Instruction {
  uint32_t address = 0;
  uint32_t size = 0;
  bool conditional = false;           // inside of an IT block
  std::string mnemonic;               // lower case, without .w and .n, and without the condition of an IT block
  std::vector<std::string> operands;  // split at commas, brackets and braces kept: "r0", "[sp, #4]!", "{r4, pc}"

  uint32_t next() const { return address + size; }
};

// Empty if there are fewer operands.
inline std::string operand(const Instruction& i, size_t n) { return n < i.operands.size() ? i.operands[n] : ""; }

class Listing {
 public:
  // Adds in any order.
  void add(Instruction instruction) { all_.push_back(std::move(instruction)); }
  // Sorts, and marks the instructions of IT blocks.
  void finish(Isa isa);
  const Instruction* at(uint32_t address) const;
  // The first instruction at or behind the address.
  const Instruction* from(uint32_t address) const;
  // The instruction that ends at the address.
  const Instruction* before(uint32_t address) const;
  bool empty() const { return all_.empty(); }

 private:
  std::vector<Instruction> all_;
};

// Disassembles a program. Reports its errors.
using Decoder = std::function<Result<Listing>(const Elf&, Diagnostics&)>;

// "ldr.w", "pc, [r3, r2, lsl #2]  @ comment".
Instruction parse_instruction(Isa isa, uint32_t address, uint32_t size, std::string mnemonic,
                              const std::string& operands);

}  // namespace aotc::machine
