// SPDX-License-Identifier: Apache-2.0
// Value and State: abstract interpretation of a function. A State holds what is known about the registers and the stack
// at one instruction. A Value that is not known for certain is kUnknown.
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
    kTable,      // (value loaded from address base + i * stride) << shift, plus `add`
    kStack,      // the stack pointer at the function's entry, plus offset (negative: below)
    kStackLow,   // AVR: the low byte of a kStack value, and below its high byte. `add` or `base` is the part of
    kStackHigh,  // a constant that was added to or subtracted from one byte, until the other byte has its part.
    kPairLow,    // AVR: the low byte, and below the high byte, of base + i * stride
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
// Returns a & mask; for an address in the stack, the lowest possible result.
Value masked(const Value& a, uint32_t mask);
Value loaded(const Elf& elf, const Value& address, int width, bool is_signed);
// All possible numbers that the value may be; nullopt if they are unknown or too many.
std::optional<std::vector<uint32_t>> all_of(const Elf& elf, const Value& value);

struct State {
  int32_t sp = 0;          // stack pointer, in bytes from its value at the entry
  bool sp_known = true;    // false: the stack pointer is somewhere below `sp`
  uint32_t inside_of = 0;  // return address of a subroutine inside the function (Step::inside); 0: not in one
  int compared = -1;       // register that was last compared with a number; -1: none
  uint32_t compared_with = 0;
  bool compared_pair = false;  // AVR: compared together with the next register
  std::array<Value, 32> registers = {};
  std::map<int64_t, Value> slots;  // words of the stack, by offset from the entry's stack pointer
  bool escaped = false;            // an address in the stack may be where a write to an unknown address goes
  Value stack_high, stack_low;     // AVR: halves of a new stack pointer, until both are written

  // Keeps only facts that both states have. True if this state changed.
  bool join(const State& other);
  // Sets the stack pointer; false if the value is not a possible stack address.
  bool set_stack(const Value& value);
  void store(int64_t at, const Value& value);
  Value load(int64_t at) const;
  // Forgets numbers that are stored in the stack, after a write to an unknown address. Saved return addresses and stack
  // addresses are kept: the write is assumed not to change them.
  void forget_variables();
};

// The effect of an instruction apart from the change of the state.
struct Step {
  enum class Flow : uint8_t {
    kNext,
    kJump,
    kBranch,  // to the target or to the next instruction
    kCall,
    kReturn,
    kStop  // execution ends, as at a trap
  };
  Flow flow = Flow::kNext;
  Value target;
  bool inside = false;       // a call of a subroutine inside the same function; its return address is in the state
  bool by_register = false;  // the target is in a register, as in a call through a function pointer
  // For a branch after a comparison: register `bounded` is at most `not_above` on one path; -1: no bound.
  int bounded = -1;
  uint32_t not_above = 0;
  bool bounded_if_taken = false;
  bool bounds_pair = false;
  std::optional<bool> taken;    // of a branch: the only path that its numbers allow
  std::string assumption;       // if not empty: what the stack bound does not include
  std::string length_assumption;  // if not empty: the length of vector registers that the stack bound is for
  std::string problem;          // if not empty: why the stack pointer is unknown
  bool stack_switched = false;  // the stack pointer was set to the start of another stack
};

// The largest stack in bytes; a larger result is a sign of a wrong computation.
inline constexpr int32_t kMostStack = 1 << 28;

class Semantics {
 public:
  virtual ~Semantics() = default;
  virtual State at_entry() const = 0;
  // The registers in which a function gets its first arguments.
  virtual std::vector<int> arguments() const = 0;
  // Forgets all that a called function may change.
  virtual void after_call(State& state) const = 0;
  virtual Step step(const struct Instruction& instruction, State& state) const = 0;
};

// Bits of the vector registers of a core.
struct VectorLength {
  uint32_t bits = 128;
  bool given = false;  // false: an assumption
};

std::unique_ptr<Semantics> thumb_semantics(const Elf& elf);
std::unique_ptr<Semantics> riscv_semantics(const Elf& elf, VectorLength vectors = {});
std::unique_ptr<Semantics> avr_semantics(const Elf& elf);

// Parses "#-12", "0x8010", "12", "8+4"; nullopt if it is no number.
std::optional<int64_t> number_in(const std::string& text);

}  // namespace aotc::machine
