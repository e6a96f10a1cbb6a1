// SPDX-License-Identifier: Apache-2.0
// Value and State: abstract values of registers and of the stack at one instruction. A value that is not known for
// certain is kUnknown; nothing is guessed here.
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
    kNumber,     // base + i * stride for some i in 0 .. count
    kTable,      // a value loaded from the address base + i * stride, shifted left, plus `add`
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
// a & mask; for an address in the stack, the lowest possible result.
Value masked(const Value& a, uint32_t mask);
Value loaded(const Elf& elf, const Value& address, int width, bool is_signed);
// All possible values; nullopt if unknown or too many.
std::optional<std::vector<uint32_t>> all_of(const Elf& elf, const Value& value);

struct State {
  int32_t sp = 0;          // offset in bytes from its value at the entry
  bool sp_known = true;    // false: somewhere below `sp`
  uint32_t inside_of = 0;  // see Step::inside; 0: not in a subroutine
  int compared = -1;       // register of the last comparison with a number
  uint32_t compared_with = 0;
  bool compared_pair = false;  // AVR: together with the next register
  std::array<Value, 32> registers = {};
  std::map<int64_t, Value> slots;  // words of the stack, by offset from the entry's stack pointer
  Value stack_high, stack_low;     // AVR: values written to one half of the stack pointer, until both are

  // Keeps only what both states know; true if this state changed.
  bool join(const State& other);
  // Sets the stack pointer; false if the value is not a possible stack address.
  bool set_stack(const Value& value);
  void store(int64_t at, const Value& value);
  Value load(int64_t at) const;
  // Forgets variables after a write to an unknown address. Saved return addresses and addresses in the stack are
  // assumed to remain.
  void forget_variables();
};

// The effect of an instruction beyond the change of the state.
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
  bool inside = false;       // a call into its own function; the return address is in the state
  bool by_register = false;  // as for calls of function pointers
  // After a comparison: the register has an upper bound on this path.
  int bounded = -1;
  uint32_t not_above = 0;
  bool bounded_if_taken = false;
  bool bounds_pair = false;
  std::string assumption;       // what the bound does not include
  std::string problem;          // why the stack pointer is unknown
  bool stack_switched = false;  // to another stack, at its beginning
  bool undecoded = false;
};

// Larger stacks are rejected as wrong computations.
inline constexpr int32_t kMostStack = 1 << 28;

class Semantics {
 public:
  virtual ~Semantics() = default;
  virtual State at_entry() const = 0;
  // Forgets everything that a called function may change.
  virtual void after_call(State& state) const = 0;
  virtual Step step(const struct Instruction& instruction, State& state) const = 0;
};

std::unique_ptr<Semantics> thumb_semantics(const Elf& elf);
std::unique_ptr<Semantics> riscv_semantics(const Elf& elf);
std::unique_ptr<Semantics> avr_semantics(const Elf& elf);

// Parses "#-12", "0x8010", "12"; nullopt if it is no number.
std::optional<int64_t> number_in(const std::string& text);

}  // namespace aotc::machine
