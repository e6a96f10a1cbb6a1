// SPDX-License-Identifier: Apache-2.0
// What is known of registers and of the stack at one instruction. The one thing to know: a value that is
// not known for certain is kUnknown; nothing is guessed here.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "machine/elf.h"

namespace aotc::machine {

struct Value {
  enum class Kind : uint8_t {
    kUnknown,
    kNumber,     // base + i * stride for an i in 0 .. count
    kTable,      // what a load from such numbers gives, shifted left, plus `add`
    kStack,      // the stack pointer at the entry, plus offset (negative: below)
    kStackLow,   // AVR: the low and the high byte of that, plus `add` and less `base` until the other
    kStackHigh,  // byte has got its part
    kPairLow,    // AVR: the low and the high byte of base + i * stride
    kPairHigh,
    kReturn  // the address that the function returns to
  };
  Kind kind = Kind::kUnknown;
  uint8_t width = 0, shift = 0;
  bool is_signed = false;
  int32_t offset = 0;
  uint32_t base = 0, stride = 0, count = 0, add = 0;

  static Value number(uint32_t value);
  static Value up_to(uint32_t most);
  static Value stack(int32_t offset);

  bool known() const { return kind != Kind::kUnknown; }
  bool is_number() const { return kind == Kind::kNumber; }
  bool is_constant() const { return kind == Kind::kNumber && count == 0; }
  bool is_stack() const { return kind == Kind::kStack; }
  bool operator==(const Value&) const = default;
};

Value plus(const Value& a, const Value& b);
Value minus(const Value& a, const Value& b);
Value shifted_left(const Value& a, uint32_t by);
// a & mask; of an address in the stack, the lowest that it can be.
Value masked(const Value& a, uint32_t mask);
Value loaded(const Elf& elf, const Value& address, int width, bool is_signed);
// All that it can be, if that is known and not too many.
std::optional<std::vector<uint32_t>> all_of(const Elf& elf, const Value& value);

struct State {
  int32_t sp = 0;          // bytes from its value at the entry
  bool sp_known = true;    // false: somewhere below `sp`
  uint32_t inside_of = 0;  // see Step::inside; 0: not in a subroutine
  int compared = -1;       // register of the last comparison with a number
  uint32_t compared_with = 0;
  bool compared_pair = false;  // AVR: with the register behind it
  std::array<Value, 32> registers = {};
  std::map<int64_t, Value> slots;  // words of the stack, by their place from the entry's stack pointer
  Value stack_high, stack_low;     // AVR: written to the stack pointer's registers, until both are

  // Keeps what both know; true if that is less than before.
  bool join(const State& other);
  // The stack pointer becomes the value, if that is a place in a stack that can be; false if not.
  bool set_stack(const Value& value);
  void store(int64_t at, const Value& value);
  Value load(int64_t at) const;
  // Something was written, or may have been, that is not known: a variable may have another value. What a function
  // saved of its caller (addresses to return to, places in the stack) is taken to stay.
  void forget_variables();
};

// What an instruction does, besides what it does to the state.
struct Step {
  enum class Flow : uint8_t {
    kNext,
    kJump,
    kBranch,  // to the target, or on
    kCall,
    kReturn,
    kStop  // nothing follows: a trap
  };
  Flow flow = Flow::kNext;
  Value target;
  bool inside = false;       // a call to within its own function, whose way back is in the state
  bool by_register = false;  // as calls of function pointers are made
  // Behind a comparison: on this way the register is not above a number.
  int bounded = -1;
  uint32_t not_above = 0;
  bool bounded_if_taken = false;
  bool bounds_pair = false;
  std::string assumption;       // what is not counted
  std::string problem;          // why the stack pointer is not known
  bool stack_switched = false;  // to another stack, at its beginning
  bool undecoded = false;
};

// No stack is larger: what is, was computed from something else.
inline constexpr int32_t kMostStack = 1 << 28;

class Semantics {
 public:
  virtual ~Semantics() = default;
  virtual State at_entry() const = 0;
  // Everything that a called function may change.
  virtual void after_call(State& state) const = 0;
  virtual Step step(const struct Instruction& instruction, State& state) const = 0;
};

std::unique_ptr<Semantics> thumb_semantics(const Elf& elf);
std::unique_ptr<Semantics> riscv_semantics(const Elf& elf);
std::unique_ptr<Semantics> avr_semantics(const Elf& elf);

// "#-12", "0x8010", "12": nothing if it is no number.
std::optional<int64_t> number_in(const std::string& text);

}  // namespace aotc::machine
