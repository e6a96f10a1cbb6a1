// SPDX-License-Identifier: Apache-2.0
// TextStepper: counts the instructions and cycles of a kernel's text, on all cores. It steps through the instructions
// with the numbers that decide branches. Words come from constant tables and from the stack; all other data is unknown.
// Iterations of a loop that repeat the one before are counted without stepping.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cores/implementation.h"
#include "machine/elf.h"
#include "machine/timing.h"

namespace aotc::cores {

// A number, or a pointer: to an argument, by its place, the stack or code.
struct TextValue {
  // kLeftOut: computed from a word that is known but was not looked up.
  static constexpr int kLeftOut = -3, kUnknown = -2, kNumber = -1, kStack = 100, kCode = 101;
  int where = kUnknown;
  int64_t number = 0;  // of a pointer: bytes from what it points to
  bool known() const { return where >= kNumber; }
};

// The result of an operation on parts that are no numbers: unknown, or left out if a part is.
TextValue text_unknown(TextValue a, TextValue b);
// a + sign * b; unknown where that is neither a number nor a pointer.
TextValue text_sum(TextValue a, TextValue b, int sign);

// Code(lines), read once in a thread: reading a text takes longer than to step through it, and a model calls few
// kernels with many tables.
template <typename Code>
std::shared_ptr<const Code> read_once(const std::vector<std::string>& lines) {
  constexpr size_t kMostTexts = 256;
  thread_local std::unordered_map<std::string, std::shared_ptr<const Code>> texts;
  std::string key;
  for (const std::string& line : lines) key.append(line).push_back('\n');
  if (auto found = texts.find(key); found != texts.end()) return found->second;
  if (texts.size() >= kMostTexts) texts.clear();
  auto code = std::make_shared<const Code>(lines);
  texts.emplace(std::move(key), code);
  return code;
}

class TextStepper {
 public:
  virtual ~TextStepper() = default;
  // Instructions from the first to the end of the text; nullopt if an unknown number decides a branch.
  std::optional<int64_t> run();
  // The same in cycles.
  std::optional<double> cycles(const machine::Timing& timing);
  // For tests: steps through every iteration.
  void step_all() { skips_ = false; }

  // Returns count(machine) for a new Machine(kernel, arguments). A first machine leaves the words of long tables
  // unknown, so that loops over them repeat and are multiplied. If such a word decides a branch, a second machine looks
  // them up.
  template <typename Machine, typename Count>
  static auto count_by(const Implementation& kernel, const std::vector<CountArgument>& arguments, Count count) {
    Machine quick(kernel, arguments);
    quick.reads_long_tables_ = false;
    auto counted = count(quick);
    if (counted || !quick.left_out_) return counted;
    Machine thorough(kernel, arguments);
    return count(thorough);
  }

 protected:
  using Value = TextValue;

  explicit TextStepper(const std::vector<CountArgument>& arguments) : arguments_(arguments) {}

  virtual size_t size() const = 0;
  // Instruction i as the timing knows it.
  virtual const machine::Instruction& parsed(size_t i) const = 0;
  // Runs instruction i; at_ is the one behind it, unless it is set. False where it is not known what comes next.
  virtual bool step(size_t i) = 0;

  // What an argument is in the beginning.
  Value argument(size_t a) const;
  // The word at an address.
  Value load(Value address);
  void store(Value address, Value value);

  // The values that instructions change, apart from the stack: registers and flags, always the same ones.
  virtual void values(std::vector<Value*>& out) = 0;

  // Iterations are multiplied only if everything but sums is the same in each of them. Steps report such facts by the
  // next three functions. `decide` reports a branch that compares a number with 0, and returns whether the condition
  // holds.
  enum class Condition { kEqual, kNotEqual, kAtLeast, kLess, kMore };
  bool decide(Condition condition, int64_t number);
  // Reports a number that decides something else, or that an operation other than a sum changes.
  void depend_on(int64_t number) { facts_.push_back({Fact::kSame, {}, number}); }
  // Reports a decision that no number explains.
  void never_repeat() { facts_.push_back({Fact::kNever, {}, 0}); }

  const std::vector<CountArgument>& arguments_;
  size_t at_ = 0;

 private:
  struct Fact {
    enum Kind { kDecision, kSame, kNever } kind = kSame;
    Condition condition = Condition::kEqual;
    int64_t number = 0;
  };
  struct Sums {
    int64_t steps = 0;
    double cycles = 0;
  };
  // The end of an iteration.
  struct Visit {
    std::vector<Value> values;
    std::vector<int64_t> change;  // of each value since the visit before
    size_t first_fact = 0, facts = 0;
    Sums at, own;  // of the whole run so far, and of the iteration
    bool comparable = false;
    int failures = 0;  // iterations that did not repeat the one before
  };

  std::optional<Sums> count(const machine::Timing* timing);
  std::vector<machine::InstructionCost> costs(const machine::Timing& timing) const;
  std::vector<Value*> all_values();
  static std::optional<int64_t> further_times(Condition condition, int64_t number, int64_t change);
  bool same_facts(const Visit& before, size_t first) const;
  // False if the loop never ends.
  bool end_iteration(size_t jump, Sums& sums);

  std::map<int64_t, Value> stack_;
  std::vector<Fact> facts_;
  std::unordered_map<size_t, Visit> visits_;  // by the backward branch
  bool skips_ = true;
  bool reads_long_tables_ = true, left_out_ = false;  // a word of a long table was not looked up
};

}  // namespace aotc::cores
