// SPDX-License-Identifier: Apache-2.0
// Thumb-2 instructions with the DSP extension, run over unknown data. Instructions are read from LLVM's disassembly of
// assembled bytes. The effects follow the Arm Architecture Reference Manual; an instruction that is not in the table
// is refused.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "machine_code.h"
#include "memory.h"

namespace aotc::tests::proof {

struct Operand {
  enum class Kind : uint8_t { kRegister, kFloat, kNumber, kShift, kMemory, kList, kFloatList };
  enum class Shift : uint8_t { kLeft, kRightUnsigned, kRight, kRotate };
  Kind kind = Kind::kNumber;
  int reg = -1;          // of a register, or the base of an address
  int index = -1;        // register that an address adds
  bool written = false;  // "!"
  Shift shift = Shift::kLeft;
  int64_t number = 0;  // of a number, an address or a shift
  uint32_t list = 0;   // bit r: register r
  friend bool operator==(const Operand&, const Operand&) = default;
};

struct Instruction {
  int at = 0, bytes = 0;
  std::string name;       // without width, condition and "s"
  size_t code = 0;        // of the name: set_name
  std::string condition;  // empty: always
  bool sets_flags = false;
  std::vector<Operand> operands;
  std::string text;
};

// Throws Failure for an instruction that is not known.
Instruction read_instruction(const MachineCode::Line& line);

// Makes it another instruction with the same operands; false if there is none of this name.
bool set_name(Instruction& to, const std::string& name);

struct Call {
  std::vector<Term> arguments;        // of r0 on
  std::vector<std::string> clobbers;  // registers that may change
  int32_t code = 0, stack = 0;        // regions
  int64_t most_steps = 0;
};

// Another instruction that is tried in a text: what it leaves in registers is compared with what the text's own
// leaves, and bits that differ become unknown. If the run is still accepted, nothing depends on them.
struct Trial {
  size_t where = 0;
  Instruction other;
  bool same = true;  // all bits of all registers and flags, whenever it ran
};

// Runs to the end of the text. Throws Failure: an access outside of a region, a change of a register that must stay,
// too many steps, a trial that stores or jumps otherwise. Throws NeedsKnown where data decides a branch or an address.
// Marks the instructions that ran.
void run_thumb(Terms& terms, Memory& memory, const std::vector<Instruction>& text, const Call& call,
               std::vector<bool>* ran = nullptr, int64_t* steps = nullptr, Trial* trial = nullptr);

}  // namespace aotc::tests::proof
