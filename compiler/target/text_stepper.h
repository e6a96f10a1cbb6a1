// SPDX-License-Identifier: Apache-2.0
// What counting a kernel's text has in common on all cores: instructions are gone through one by one, with the numbers
// that decide where to go on. The one thing to know: words come from tables that are given and from the stack, and all
// else is unknown.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "machine/elf.h"
#include "machine/timing.h"
#include "target/implementation.h"

namespace aotc::target {

// A number, or a pointer: to an argument, by its place, the stack or code.
struct TextValue {
  static constexpr int kUnknown = -2, kNumber = -1, kStack = 100, kCode = 101;
  int where = kUnknown;
  int64_t number = 0;  // of a pointer: bytes from what it points to
  bool known() const { return where != kUnknown; }
};

// a + sign * b; unknown where that is neither a number nor a pointer.
TextValue text_sum(TextValue a, TextValue b, int sign);

class TextStepper {
 public:
  virtual ~TextStepper() = default;
  // Instructions from the first to behind the last; nothing where an unknown number decides.
  std::optional<int64_t> run();
  // The same in cycles.
  std::optional<double> cycles(const machine::Timing& timing);

 protected:
  using Value = TextValue;

  TextStepper(const std::vector<CountArgument>& arguments, machine::Isa isa) : arguments_(arguments), isa_(isa) {}

  virtual size_t size() const = 0;
  // Instruction i as the timing knows it, at this address.
  virtual machine::Instruction parsed(size_t i, uint32_t address) const = 0;
  // Runs instruction i; at_ is the one behind it, unless it is set. False where it is not known what comes next.
  virtual bool step(size_t i) = 0;

  // What an argument is in the beginning.
  Value argument(size_t a) const;
  // The word at an address.
  Value load(Value address) const;
  void store(Value address, Value value);

  const std::vector<CountArgument>& arguments_;
  size_t at_ = 0;

 private:
  std::vector<machine::InstructionCost> costs(const machine::Timing& timing) const;

  machine::Isa isa_;
  std::map<int64_t, Value> stack_;
};

}  // namespace aotc::target
