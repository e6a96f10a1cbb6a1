// SPDX-License-Identifier: Apache-2.0
// Block: straight-line code of a kernel in static single assignment form, on virtual registers. A description of a
// kernel builds blocks from the instruction table of a core family; schedule() (kernelgen/schedule.h) orders the
// instructions and assigns registers. Nothing here knows a core: register numbers, masks and texts come from the table.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace aotc::kernelgen {

// A set of registers of the same kind. kNone: the instruction has no result.
enum class Bank : uint8_t { kCore, kVector, kNone };
inline constexpr size_t kBanks = 2;

// Registers of one bank: bit i is register i.
using Registers = uint32_t;
inline constexpr Registers kAnyRegister = ~Registers{0};
constexpr Registers register_bit(int number) { return Registers{1} << number; }

// A row of an instruction table. `text` has one or more instructions, separated by newlines. In it, %d is the result,
// %l the list of all results, %0 to %9 are the operands, and $0 to $9 are the immediates. Instructions of one row stay
// adjacent, so a row also describes a predicated pair.
struct Row {
  std::string_view text;
  Bank result = Bank::kVector;
  int tied = -1;                       // the operand whose register becomes the result's
  int moved = -1;                      // the operand that the instruction also advances: a pointer
  bool early = false;                  // the result is written before all operands are read
  Registers result_in = kAnyRegister;  // the registers that the encoding permits
  std::array<Registers, 4> operand_in = {kAnyRegister, kAnyRegister, kAnyRegister, kAnyRegister};
  enum class Memory : uint8_t { kNone, kRead, kWrite } memory = Memory::kNone;
  int results = 1;  // results of a list are in ascending registers
};

// Index of a value in its block.
using Value = int;
inline constexpr Value kNoValue = -1;

struct ValueInfo {
  Bank bank = Bank::kCore;
  Registers allowed = kAnyRegister;
  int fixed = -1;         // the register that holds the value; -1: schedule() chooses one
  bool live_out = false;  // is read after the block
};

struct Op {
  const Row* row = nullptr;
  std::vector<Value> uses;
  std::vector<int64_t> immediates;
  Value result = kNoValue;
  Value moved = kNoValue;  // the advanced pointer
  int stream = 0;          // accesses to different streams never overlap
};

class Block {
 public:
  // A value that exists before the block, in a fixed register. If `stays`, the register keeps it until the end.
  Value live_in(Bank bank, int number, bool stays = true);

  // Appends an instruction and returns its result, or kNoValue.
  // The other results of a list follow it: result + 1, and so on.
  Value add(const Row& row, std::initializer_list<Value> uses, std::initializer_list<int64_t> immediates = {},
            int stream = 0);
  // The same for an instruction that advances a pointer; `pointer` becomes the advanced one.
  Value access(const Row& row, Value& pointer, std::initializer_list<Value> others,
               std::initializer_list<int64_t> immediates, int stream);

  // Sets the register of a value.
  void fix(Value value, int number) { values_[static_cast<size_t>(value)].fixed = number; }
  // The value is read after the block. `number`: the register in which it must be; -1: that of its operand, or any.
  void keep(Value value, int number = -1);

  const std::vector<ValueInfo>& values() const { return values_; }
  const std::vector<Op>& ops() const { return ops_; }
  const std::vector<Value>& inputs() const { return inputs_; }
  // Number of instructions, which does not depend on the schedule.
  int64_t instructions() const;

 private:
  Value new_value(Bank bank, Registers allowed);
  Value append(const Row& row, std::vector<Value> uses, std::initializer_list<int64_t> immediates, int stream);

  std::vector<ValueInfo> values_;
  std::vector<Op> ops_;
  std::vector<Value> inputs_;
};

// Number of instructions in a row's text.
int64_t instructions_of(const Row& row);

}  // namespace aotc::kernelgen
