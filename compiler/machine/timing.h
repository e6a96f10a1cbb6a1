// SPDX-License-Identifier: Apache-2.0
// Timing: the documented cycles of each kind of instruction on a core that executes in order. Memory is assumed to have
// no wait states, so real code and data in flash take longer.
#pragma once

#include "machine/instruction.h"

namespace aotc::machine {

// Cycles of each kind. Some values depend on the neighbouring instruction in memory.
struct Timing {
  const char* source = "";  // the document with these numbers
  double alu = 1;
  double load = 2, next_load = 1;  // next_load: a load after a load, if its address does not depend on the first result
  double store = 1;
  double load_pair = 3, store_pair = 3;
  double many = 1, each = 1;  // LDM, STM: base cost, and cost for each register
  double multiply = 1, multiply_add = 1, long_multiply = 1, long_add = 1;
  double divide = 7;
  double refill = 2;       // added for a taken branch
  double load_refill = 3;  // added for a load to the program counter
  double call = 0;         // added for a call, beyond a branch
  double float_op = 1, float_multiply_add = 3, float_divide = 14,
         float_wait = 1;  // float_wait: added if the next instruction reads the result
  double float_load = 2, float_store = 2;
  double vector = 2,
         vector_before_other = 1;  // instead of `vector`, if the next instruction is for another vector unit
};

struct InstructionCost {
  Kind kind = Kind::kAlu;
  double cycles = 0;  // for each execution
  double taken = 0;   // added if the next executed instruction is not the next in memory
};

// The unit for vectors that executes it; 0: none. The units work at the same time: one loads and stores, one
// multiplies.
int unit_of(Kind kind);
bool is_load(Kind kind);
bool is_store(Kind kind);
bool is_multiply(Kind kind);
bool is_branch(Kind kind);

// `before`, `behind`: the neighbouring instructions in memory, or nullptr.
InstructionCost cost_of(const Timing& timing, const Instruction& i, const Instruction* before,
                        const Instruction* behind);

}  // namespace aotc::machine
