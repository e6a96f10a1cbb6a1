// SPDX-License-Identifier: Apache-2.0
// Instructions as a disassembler prints them. The one thing to know: what follows is made from this text
// alone, whether binutils or LLVM printed it.
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
  std::string mnemonic;               // in small letters, without .w and .n; without the condition of an IT block
  std::vector<std::string> operands;  // split at commas, brackets and braces kept: "r0", "[sp, #4]!", "{r4, pc}"

  uint32_t next() const { return address + size; }
};

// Empty if there are fewer.
inline std::string operand(const Instruction& i, size_t n) {
  return n < i.operands.size() ? i.operands[n] : "";
}

class Listing {
 public:
  // As they come, in any order.
  void add(Instruction instruction) { all_.push_back(std::move(instruction)); }
  // Sorts, and marks what stands in IT blocks.
  void finish(Isa isa);
  const Instruction* at(uint32_t address) const;
  // The first at or behind the address.
  const Instruction* from(uint32_t address) const;
  // The one that ends at the address.
  const Instruction* before(uint32_t address) const;
  bool empty() const { return all_.empty(); }

 private:
  std::vector<Instruction> all_;
};

// Reads the code of a program. Reports what it cannot.
using Decoder = std::function<Result<Listing>(const Elf&, Diagnostics&)>;

// "ldr.w", "pc, [r3, r2, lsl #2]  @ comment".
Instruction parse_instruction(Isa isa, uint32_t address, uint32_t size, std::string mnemonic,
                              const std::string& operands);

}  // namespace aotc::machine
