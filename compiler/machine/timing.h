// SPDX-License-Identifier: Apache-2.0
// Timing: the documented cycles of instructions on in-order cores, by kind of instruction. Memory has no wait states,
// so code and data in real flash take longer.
#pragma once

#include <string>

#include "machine/instruction.h"

namespace aotc::machine {

// The kind of an instruction, as a pipeline distinguishes them.
enum class Kind {
  kAlu,
  kLoad,  // of at most a word
  kStore,
  kLoadPair,  // LDRD
  kStorePair,
  kLoadMany,  // LDM, POP
  kStoreMany,
  kMultiply,     // 32 bits, with or without two halfword products
  kMultiplyAdd,  // with an addend, MLA
  kLong,         // a 64-bit product
  kLongAdd,
  kDivide,
  kBranch,
  kCall,
  kLoopEnd,  // LE, LETP
  kFloat,
  kFloatMultiplyAdd,
  kFloatDivide,  // square roots as well
  kFloatLoad,
  kFloatStore,
  kFloatLoadMany,
  kFloatStoreMany,
  kVectorLoad,
  kVectorStore,
  kVectorMultiply,
  kVector
};

// Cycles of each kind. Figures for pairs of instructions apply to neighbours in the text.
struct Timing {
  const char* source = "";  // source of the numbers
  double alu = 1;
  double load = 2, next_load = 1;  // the second of two loads whose address does not depend on the first
  double store = 1;
  double load_pair = 3, store_pair = 3;
  double many = 1, each = 1;  // LDM, STM: base cost, and cost for each register
  double multiply = 1, multiply_add = 1, long_multiply = 1, long_add = 1;
  double divide = 7;
  double refill = 2;       // additional for a taken branch
  double load_refill = 3;  // additional for a load to the program counter
  double call = 0;         // additional for a call, beyond a branch
  double float_op = 1, float_multiply_add = 3, float_divide = 14,
         float_wait = 1;  // the next instruction reads the result
  double float_load = 2, float_store = 2;
  double vector = 2,
         vector_before_other = 1;  // the next instruction is a vector instruction of another unit
};

struct InstructionCost {
  Kind kind = Kind::kAlu;
  double cycles = 0;  // for each execution
  double taken = 0;   // additional if the next executed instruction is not the next in memory
};

Kind kind_of(Isa isa, const Instruction& i);
bool is_load(Kind kind);
bool is_store(Kind kind);
bool is_multiply(Kind kind);
bool is_branch(Kind kind);

// `before`, `behind`: its neighbours in the text; nullptr if there is none.
InstructionCost cost_of(const Timing& timing, Isa isa, const Instruction& i, const Instruction* before,
                        const Instruction* behind);

// Number of registers in a list: 4 for "{r0, r4-r5, pc}", and for "{s0-s3}".
int registers_in(const std::string& list);

}  // namespace aotc::machine
