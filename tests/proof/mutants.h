// SPDX-License-Identifier: Apache-2.0
// Mutants of a text: one instruction is another one, or none. The checker must notice each.
#pragma once

#include <string>
#include <vector>

#include "machine.h"

namespace aotc::tests::proof {

std::vector<Instruction> instructions_of(const Isa& isa, const MachineCode& code, const std::vector<uint8_t>& bytes);

struct Mutant {
  size_t where = 0;   // the instruction
  std::string what;   // for messages
  Instruction other;  // in its place
};

// Of each instruction: each register as each other register, each number a little more and less, each shift, names with
// another sign or lane, and nothing in its place.
std::vector<Mutant> mutants_of(const Isa& isa, const std::vector<Instruction>& text);

}  // namespace aotc::tests::proof
