// SPDX-License-Identifier: Apache-2.0
// Cycles of instructions on cores that run them one after the other: what documents of a core say,
// as numbers by kind of instruction. The one thing to know: memory is without wait states, so code
// and data of real flash take longer.
#pragma once

#include <string>

#include "machine/instruction.h"

namespace aotc::machine {

// What an instruction is to a pipeline.
enum class Kind {
  kAlu,
  kLoad,  // of a word or less
  kStore,
  kLoadPair,  // LDRD
  kStorePair,
  kLoadMany,  // LDM, POP
  kStoreMany,
  kMultiply,     // 32 bits, with or without two halves
  kMultiplyAdd,  // with an addend, MLA
  kLong,         // a product of 64 bits
  kLongAdd,
  kDivide,
  kBranch,
  kCall,
  kLoopEnd,  // LE, LETP
  kFloat,
  kFloatMultiplyAdd,
  kFloatDivide,  // and square roots
  kFloatLoad,
  kFloatStore,
  kFloatLoadMany,
  kFloatStoreMany,
  kVectorLoad,
  kVectorStore,
  kVectorMultiply,
  kVector
};

// Cycles of each kind. What is said of a pair of instructions is about neighbours in the text.
struct Timing {
  const char* source = "";  // where the numbers are from
  double alu = 1;
  double load = 2, next_load = 1;  // the second of two loads, whose address the first does not load
  double store = 1;
  double load_pair = 3, store_pair = 3;
  double many = 1, each = 1;  // LDM, STM: so much, and so much for each register
  double multiply = 1, multiply_add = 1, long_multiply = 1, long_add = 1;
  double divide = 7;
  double refill = 2;       // what a branch that is taken adds
  double load_refill = 3;  // and one by a load to the program counter
  double call = 0;         // what a call adds to a branch
  double float_op = 1, float_multiply_add = 3, float_divide = 14,
         float_wait = 1;  // the next reads the result
  double float_load = 2, float_store = 2;
  double vector = 2,
         vector_before_other = 1;  // the next instruction is a vector's, of another unit
};

struct InstructionCost {
  Kind kind = Kind::kAlu;
  double cycles = 0;  // each time
  double taken = 0;   // added where the next one that runs is not the one behind it
};

Kind kind_of(Isa isa, const Instruction& i);
bool is_load(Kind kind);
bool is_store(Kind kind);
bool is_multiply(Kind kind);
bool is_branch(Kind kind);

// `before`, `behind`: its neighbours in the text; nullptr if there is none.
InstructionCost cost_of(const Timing& timing, Isa isa, const Instruction& i,
                        const Instruction* before, const Instruction* behind);

// Registers of a list: 4 for "{r0, r4-r5, pc}", and for "{s0-s3}".
int registers_in(const std::string& list);

}  // namespace aotc::machine
