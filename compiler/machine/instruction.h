// SPDX-License-Identifier: Apache-2.0
// Instruction: what the analyses of stack and cycles use of a machine instruction. Two readers make it: aotc-analyze
// from LLVM's MCInst, and parse_instruction from assembly text where LLVM is absent.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "machine/elf.h"

namespace aotc::machine {

// Numbers of registers: the core's as in its encoding, then the stack pointer of AVR, the program counter, and the
// floating-point and vector registers, singles before doubles before vectors.
inline constexpr int kAvrSp = 32, kPc = 33, kSingles = 64, kDoubles = 96, kVectors = 128, kNoRegister = -1,
                     kUnknownRegister = -2;

// The number of RISC-V's register VLENB.
inline constexpr int64_t kVlenb = 0xC22;

struct Operand {
  int reg =
      kNoRegister;  // kNoRegister: a number; kUnknownRegister: another operand, such as a register shifted to the right
  int64_t number = 0;

  bool is_register() const { return reg >= 0; }
  bool is_number() const { return reg == kNoRegister; }
  bool operator==(const Operand&) const = default;
};

struct Memory {
  enum class Update : uint8_t { kNone, kBefore, kAfter };
  int base = kNoRegister, index = kNoRegister;  // kNoRegister as the base: `offset` is the address
  int64_t offset = 0;                           // from the base; with an update, what is added to the base
  uint32_t shift = 0;                           // of the index, to the left
  int32_t bytes = 0;                            // of all registers that are transferred
  bool is_signed = false;
  Update update = Update::kNone;  // when the base changes: before or after the access

  bool operator==(const Memory&) const = default;
};

// The operation, as far as the analyses know its result.
enum class Op : uint8_t {
  kOther,        // its results are unknown
  kCoprocessor,  // may write any register and any address: Helium's, as an older objdump names them
  kNop,
  kMove,
  kMoveHigh,  // LUI, AUIPC: the next instruction adds the low part
  kNot,
  kVectorBytes,  // the bytes of a vector register of RISC-V
  kLowByte,
  kLowHalf,
  kExtract,  // UBFX
  kCompare,
  kCompareCarry,
  kBinary,  // from here to kAndNot: operations on the two operands in `reads`; the result of this one is unknown
  kMoveTop,
  kMultiply,  // of RISC-V
  kAdd,
  kAddCarry,
  kSubtract,
  kSubtractCarry,
  kShiftLeft,
  kAnd,
  kAndNot,
  kLoad,
  kStore,
  kLoadProgram,  // LPM
  kIn,
  kOut,
  kJump,
  kCall,
  kBranch,
  kSkip,   // the next instruction, on a condition
  kTable,  // TBB, TBH
  kReturn,
  kStop,  // execution ends, as at a trap
  kSupervisorCall,
  kSetStack  // MSR MSP
};

// The kind of an instruction; Timing has the cycles of each kind.
enum class Kind : uint8_t {
  kAlu,
  kLoad,  // one word or less
  kStore,
  kLoadPair,  // LDRD
  kStorePair,
  kLoadMany,  // LDM, POP
  kStoreMany,
  kMultiply,     // a 32-bit result; products of two halfwords count, too
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

// How the unsigned operands of a branch compare if it is taken.
enum class Condition : uint8_t { kOther, kEqual, kNotEqual, kBelow, kNotBelow, kAbove, kNotAbove };

struct Instruction {
  uint32_t address = 0, size = 0;
  Op op = Op::kOther;
  Kind kind = Kind::kAlu;
  Condition condition = Condition::kOther;
  bool conditional = false;    // executed only if a condition holds (in a Thumb IT block)
  bool sets_flags = false;     // of Thumb and AVR
  std::vector<int> writes;     // registers, without the base of `memory`
  std::vector<Operand> reads;  // without `memory`; of a jump, call or branch the last one is the target
  uint32_t shift = 0;          // of the last operand in `reads`, to the left
  Memory memory;

  uint32_t next() const { return address + size; }
  // True if an operand is the register `first` or one with a larger number.
  bool uses(int first) const;
  bool operator==(const Instruction&) const = default;
};

// A row of the tables of instructions. Both readers look a row up by the instruction's name, because the numbers of
// LLVM's opcodes change with each version.
struct Opcode {
  // Values of `results`: all registers before the memory operand; the two halves of a register pair; r0 and r1 of AVR.
  static constexpr int kAll = 99, kPair = 100, kProduct = 101;
  std::string_view names;
  Op op = Op::kOther;
  Kind kind = Kind::kAlu;
  int results = 1;  // number of leading operands of the text that are written
};
// Returns the name in lower case without suffixes and prefixes of the encoding: "add" for "ADD.W", "lw" for "c.lwsp".
std::string name_of(Isa isa, std::string_view mnemonic);
// Sets the operation, the kind and the flags of an instruction with this name.
Opcode begin(Isa isa, std::string_view name, Instruction& i);
// Brings the operands of both readers into one form: addresses instead of distances from the program counter, operands
// that the text leaves out, the base and the bytes of a memory access.
void complete(Isa isa, std::string_view name, const Opcode& opcode, Instruction& i);

class Listing {
 public:
  // Instructions may be added in any order.
  void add(Instruction instruction) { all_.push_back(std::move(instruction)); }
  // Sorts the instructions by address.
  void finish();
  const std::vector<Instruction>& all() const { return all_; }
  const Instruction* at(uint32_t address) const;
  // The first instruction at or behind the address.
  const Instruction* from(uint32_t address) const;
  // The instruction that ends at the address.
  const Instruction* before(uint32_t address) const;

 private:
  std::vector<Instruction> all_;
};

// Disassembles a program, and reports errors of the disassembler.
using Decoder = std::function<Result<Listing>(const Elf&, Diagnostics&)>;

// The number of a register, or kUnknownRegister.
int register_of(Isa isa, std::string_view name);
// Reads a mnemonic "ldr.w" and operands "pc, [r3, r2, lsl #2] @ comment". An unknown mnemonic becomes
// an instruction with unknown results.
Instruction parse_instruction(Isa isa, uint32_t address, uint32_t size, std::string_view mnemonic,
                              std::string_view operands);

}  // namespace aotc::machine
