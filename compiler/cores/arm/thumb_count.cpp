// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/thumb_count.h"

#include <array>
#include <map>
#include <string>
#include <utility>

#include "cores/arm/thumb_text.h"
#include "cores/text_stepper.h"

namespace aotc::cores::arm {

namespace {

// What it does to the numbers that are followed. Names are looked at once: texts are stepped through a million times.
enum class Does : uint8_t {
  kPushPop,
  kVector,
  kLoopEnd,
  kLoopStart,
  kBranch,
  kCompare,
  kAccess,
  kMany,
  kMove,
  kAddress,
  kAdd,
  kSubtract,
  kShiftLeft,
  kShiftRight,
  kShiftRightSigned,
  kAnd,
  kClear,
  kHalf,
  kNothing,
  kTest,
  kForget
};

Does does_of(const std::string& n, size_t operands) {
  if (n == "push" || n == "pop") return Does::kPushPop;
  if (n[0] == 'v') return Does::kVector;
  if (n == "it") return Does::kNothing;
  if (n == "tst") return Does::kTest;
  if (n == "le" || n == "letp") return Does::kLoopEnd;
  if (n.starts_with("dls") || n.starts_with("wls")) return Does::kLoopStart;
  if (n[0] == 'b' && n != "bic" && n != "bfi") return Does::kBranch;
  if (n == "cmp") return Does::kCompare;
  if (n.starts_with("ldr") || n.starts_with("str")) return Does::kAccess;
  if (n == "ldmia" || n == "stmia") return Does::kMany;
  if (n == "mov" || n == "movw") return Does::kMove;
  if (n == "adr.w") return Does::kAddress;
  if (n == "uxth") return Does::kHalf;
  if (operands < 3) return Does::kForget;
  if (n == "add" || n == "adds") return Does::kAdd;
  if (n == "sub" || n == "subs") return Does::kSubtract;
  if (n == "lsl") return Does::kShiftLeft;
  if (n == "lsr") return Does::kShiftRight;
  if (n == "asr") return Does::kShiftRightSigned;
  if (n == "and") return Does::kAnd;
  return n == "bic" ? Does::kClear : Does::kForget;
}

struct Instruction {
  std::string name;
  std::vector<TextOperand> operands;
  std::string text;      // of the operands
  int64_t at_most = -1;  // a branch that data decides counts as taken so many times in turn
  Does does = Does::kForget;
  bool sets_flags = false;  // to the result
  bool forgets_flags = false;
};

struct Code {
  // Repeated text is written out; labels are numbers that may be put down more than once.
  explicit Code(const std::vector<std::string>& lines) {
    int64_t at_most = -1;
    for (const std::string& line : written_out(lines)) {
      if (line.starts_with(kTakenAtMost)) at_most = std::atoll(line.c_str() + kTakenAtMost.size());
      if (is_comment(line) || is_unwinding(line) || line.starts_with(".syntax")) continue;
      if (line.back() == ':') {
        labels[std::atoi(line.c_str())] = instructions.size();
      } else {
        const size_t space = std::min(line.find(' '), line.size());
        Instruction i{line.substr(0, space), {}, line.substr(space), std::exchange(at_most, -1)};
        for (const std::string& piece : pieces_of(line.substr(space))) {
          i.operands.push_back(operand_of(piece));
          if (i.operands.back().kind == TextOperand::kLabel) i.operands.back().number = std::atoi(piece.c_str());
        }
        i.does = does_of(i.name, i.operands.size());
        i.sets_flags = i.name == "adds" || i.name == "subs";
        i.forgets_flags = i.name == "asrs" || i.name == "movs";
        instructions.push_back(std::move(i));
      }
    }
    for (const Instruction& i : instructions)
      timed.push_back(machine::parse_instruction(machine::Isa::kThumb, 0, 4, i.name, i.text));
  }

  std::vector<Instruction> instructions;
  std::vector<machine::Instruction> timed;  // the same ones, as the timing knows them
  std::map<int, size_t> labels;
};

class Machine : public TextStepper {
 public:
  Machine(const Implementation& kernel, const std::vector<CountArgument>& arguments)
      : TextStepper(arguments), code_(read_once<Code>(kernel.lines)), taken_(code_->instructions.size()) {
    for (size_t a = 0; a < arguments.size() && a < 4; ++a) registers_[a] = argument(a);
    registers_[13] = {Value::kStack, 0};
  }

 private:
  size_t size() const override { return code_->instructions.size(); }
  const machine::Instruction& parsed(size_t i) const override { return code_->timed[i]; }

  Value& reg(const TextOperand& o) { return registers_[static_cast<size_t>(o.reg)]; }
  Value value(const TextOperand& o) {
    return o.kind == TextOperand::kRegister ? reg(o) : Value{Value::kNumber, o.number};
  }

  // Conditions without a sign need pointers into one table, or numbers without one.
  void compare(Value a, Value b) {
    flags_ = text_sum(a, b, -1);
    unsigned_ = a.where != Value::kNumber || (a.number >= 0 && b.number >= 0);
  }

  bool branch(const Instruction& i, int64_t& taken_before) {
    const std::string condition = i.name.substr(1);
    bool taken = true;
    if (!condition.empty() && flags_.where != Value::kNumber) {
      if (i.at_most < 0 || flags_.where == Value::kLeftOut) return false;
      if (i.at_most > 0) never_repeat();
      taken = taken_before < i.at_most;
      taken_before = taken ? taken_before + 1 : 0;
    } else if (!condition.empty()) {
      const int64_t f = static_cast<int32_t>(flags_.number);
      if (condition == "ne") taken = decide(Condition::kNotEqual, f);
      else if (condition == "eq") taken = decide(Condition::kEqual, f);
      else if (condition == "pl") taken = decide(Condition::kAtLeast, f);
      else if (condition == "mi") taken = decide(Condition::kLess, f);
      else if (condition == "gt" || (condition == "hi" && unsigned_)) taken = decide(Condition::kMore, f);
      else if (condition == "lo" && unsigned_) taken = decide(Condition::kLess, f);
      else if (condition == "hs" && unsigned_) taken = decide(Condition::kAtLeast, f);
      else if (condition == "ls" && unsigned_) taken = !decide(Condition::kMore, f);
      else return false;
    }
    if (taken) at_ = code_->labels.at(static_cast<int>(i.operands[0].number));
    return true;
  }

  // Helium: addresses move on, and what comes out of vectors is not known.
  bool vector(const Instruction& i) {
    if (i.operands.empty() || i.name.starts_with("vctp")) return true;
    if (i.operands[0].kind == TextOperand::kRegister) reg(i.operands[0]) = {};
    if (i.name.starts_with("vshlc") && i.operands.size() > 1) reg(i.operands[1]) = {};
    if (i.operands.size() < 2 || i.operands[1].kind != TextOperand::kAddress) return true;
    const TextOperand& at = i.operands[1];
    int64_t moves = at.write_back ? at.number : 0;
    if (at.write_back && i.operands[0].kind == TextOperand::kList)
      moves = 16 * static_cast<int64_t>(i.operands[0].number);
    if (i.operands.size() > 2) moves = i.operands[2].number;
    reg(at) = text_sum(reg(at), {Value::kNumber, moves}, 1);
    return true;
  }

  // lr counts turns, or elements of loops whose last turn may be a part of a vector.
  bool loop_start(const Instruction& i) {
    const Value turns = value(i.operands[1]);
    if (turns.where != Value::kNumber) return false;
    const size_t dot = i.name.find('.');
    lanes_ = dot == std::string::npos ? 1 : 128 / std::atoll(i.name.c_str() + dot + 1);
    reg(i.operands[0]) = turns;
    depend_on(turns.number);
    if (i.name[0] == 'w' && turns.number == 0) at_ = code_->labels.at(static_cast<int>(i.operands[2].number));
    return true;
  }

  bool loop_end(const Instruction& i) {
    Value& left = reg(i.operands[0]);
    if (left.where != Value::kNumber) return false;
    const int64_t step = i.name == "letp" ? lanes_ : 1;
    if (!decide(Condition::kMore, left.number - step)) return true;
    left.number -= step;
    at_ = code_->labels.at(static_cast<int>(i.operands[1].number));
    return true;
  }

  bool access(const Instruction& i) {
    const bool loads = i.name.starts_with("ldr"), two = i.name.back() == 'd' && i.name.size() == 4;
    const size_t where = two ? 2 : 1;
    const bool words = i.name.size() == 3 || two;
    const TextOperand& at = i.operands[where];
    Value address = text_sum(reg(at), {Value::kNumber, at.number}, 1);
    if (at.index >= 0) address = {};
    if (loads && i.operands[0].reg == 15) return jump(load(address));
    for (size_t r = 0; r < where; ++r) {
      Value place = address.known() ? Value{address.where, address.number + 4 * static_cast<int64_t>(r)} : address;
      if (loads) reg(i.operands[r]) = words || place.where == Value::kStack ? load(place) : Value{};
      else store(place, reg(i.operands[r]));
    }
    if (i.operands.size() > where + 1) reg(at) = text_sum(reg(at), {Value::kNumber, i.operands[where + 1].number}, 1);
    return true;
  }

  // Bodies that are entered in the middle have instructions of four bytes.
  bool jump(Value to) {
    if (to.where != Value::kCode) return false;
    depend_on(to.number);
    at_ = static_cast<size_t>((to.number & ~int64_t{1}) / 4);
    return at_ <= size();
  }

  bool many(const Instruction& i) {
    const TextOperand &base = i.operands[0], &list = i.operands[1];
    Value at = reg(base);
    for (int r : list.list) {
      Value& value = registers_[static_cast<size_t>(r)];
      if (i.name == "ldmia") value = load(at);
      else store(at, value);
      at = text_sum(at, {Value::kNumber, 4}, 1);
    }
    if (base.write_back) reg(base) = at;
    return true;
  }

  bool stack(const Instruction& i) {
    const std::vector<int>& list = i.operands[0].list;
    Value& top = registers_[13];
    if (i.name == "push") top = text_sum(top, {Value::kNumber, 4 * static_cast<int64_t>(list.size())}, -1);
    Value at = top;
    for (int r : list) {
      Value& value = registers_[static_cast<size_t>(r)];
      if (i.name == "push") store(at, value);
      else value = load(at);
      at = text_sum(at, {Value::kNumber, 4}, 1);
    }
    if (i.name == "pop") top = at;
    return true;
  }

  bool step(size_t here) override {
    const Instruction& i = code_->instructions[here];
    switch (i.does) {
      case Does::kPushPop: return stack(i);
      case Does::kVector: return vector(i);
      case Does::kLoopEnd: return loop_end(i);
      case Does::kLoopStart: return loop_start(i);
      case Does::kBranch: return branch(i, taken_[here]);
      case Does::kCompare: return compare(value(i.operands[0]), value(i.operands[1])), true;
      case Does::kAccess: return access(i);
      case Does::kMany: return many(i);
      case Does::kNothing: return true;
      case Does::kTest: return flags_ = {}, true;
      default: return compute(i);
    }
  }

  bool compute(const Instruction& i) {
    if (i.operands.empty() || i.operands[0].kind != TextOperand::kRegister) return false;
    if (i.forgets_flags) flags_ = {};
    const Value made = result(i);
    if (i.sets_flags && i.operands.size() >= 3) flags_ = made, unsigned_ = false;
    reg(i.operands[0]) = made;
    return true;
  }

  Value result(const Instruction& i) {
    if (i.does == Does::kForget) return {};
    if (i.does == Does::kMove) return value(i.operands[1]);
    if (i.does == Does::kAddress)
      return {Value::kCode, 4 * static_cast<int64_t>(code_->labels.at(static_cast<int>(i.operands[1].number)))};
    const Value left = value(i.operands[1]);
    if (i.does == Does::kHalf) {
      depend_on(left.number);
      return left.where == Value::kNumber ? Value{Value::kNumber, left.number & 0xFFFF} : text_unknown(left, {});
    }
    const bool shifted = i.operands.back().kind == TextOperand::kShift;
    Value right = value(i.operands[2]);
    if (i.does == Does::kAdd || i.does == Does::kSubtract) {
      if (shifted)
        right = right.where == Value::kNumber ? Value{Value::kNumber, right.number << i.operands[3].number}
                                              : text_unknown(right, {});
      return text_sum(left, right, i.does == Does::kAdd ? 1 : -1);
    }
    if (i.operands.size() != 3 || shifted || left.where != Value::kNumber || right.where != Value::kNumber)
      return text_unknown(left, right);
    const int64_t a = left.number, b = right.number;
    depend_on(a);
    depend_on(b);
    const auto u = static_cast<uint32_t>(a);
    switch (i.does) {
      case Does::kShiftLeft: return {Value::kNumber, static_cast<int32_t>(u << b)};
      case Does::kShiftRight: return {Value::kNumber, static_cast<int64_t>(u >> b)};
      case Does::kShiftRightSigned: return {Value::kNumber, static_cast<int32_t>(u) >> b};
      case Does::kAnd: return {Value::kNumber, a & b};
      default: return {Value::kNumber, a & ~b};
    }
  }

  void values(std::vector<Value*>& out) override {
    for (Value& value : registers_) out.push_back(&value);
    out.push_back(&flags_);
  }

  std::shared_ptr<const Code> code_;
  std::vector<int64_t> taken_;  // times in turn that data decided a branch, by instruction
  std::array<Value, 16> registers_ = {};
  Value flags_;
  bool unsigned_ = true;
  int64_t lanes_ = 1;
};

}  // namespace

std::optional<int64_t> count_instructions(const Implementation& kernel, const std::vector<CountArgument>& arguments) {
  return TextStepper::count_by<Machine>(kernel, arguments, [](Machine& m) { return m.run(); });
}

std::optional<int64_t> count_every_step(const Implementation& kernel, const std::vector<CountArgument>& arguments) {
  Machine machine(kernel, arguments);
  machine.step_all();
  return machine.run();
}

std::optional<double> count_cycles(const Implementation& kernel, const std::vector<CountArgument>& arguments,
                                   const machine::Timing& timing) {
  return TextStepper::count_by<Machine>(kernel, arguments, [&](Machine& m) { return m.cycles(timing); });
}

}  // namespace aotc::cores::arm
