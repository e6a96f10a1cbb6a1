// SPDX-License-Identifier: Apache-2.0
// Instructions in a disassembler's text form. The analyses use only this text, so the disassemblers of binutils and
// LLVM are interchangeable.
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
  bool conditional = false;           // executed only if a condition holds (in a Thumb IT block)
  std::string mnemonic;               // lower case, without .w and .n, and without the condition of an IT block
  std::vector<std::string> operands;  // split at commas outside of brackets and braces: "r0", "[sp, #4]!", "{r4, pc}"

  uint32_t next() const { return address + size; }
};

// Operand `n`; empty if there are fewer operands.
inline std::string operand(const Instruction& i, size_t n) { return n < i.operands.size() ? i.operands[n] : ""; }

class Listing {
 public:
  // Instructions may be added in any order.
  void add(Instruction instruction) { all_.push_back(std::move(instruction)); }
  // Sorts the instructions by address, and marks those in IT blocks as conditional.
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

// Disassembles a program, and reports errors of the disassembler.
using Decoder = std::function<Result<Listing>(const Elf&, Diagnostics&)>;

// Parses a mnemonic "ldr.w" and operands "pc, [r3, r2, lsl #2] @ comment".
Instruction parse_instruction(Isa isa, uint32_t address, uint32_t size, std::string mnemonic,
                              const std::string& operands);

}  // namespace aotc::machine
