// SPDX-License-Identifier: Apache-2.0
#include "cores/riscv/text_count.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "cores/implementation.h"
#include "cores/text_stepper.h"

namespace aotc::cores::riscv {

namespace {

constexpr std::string_view kEscape = "\\\\";  // of a macro's parameter, as the C string has it

struct Macro {
  std::vector<std::string> parameters, lines;
};

void replace(std::string& text, const std::string& what, const std::string& by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

void put(const std::string& line, const std::map<std::string, Macro>& macros, std::vector<std::string>& out) {
  if (line.empty() || is_comment(line) || line[0] == '.') return;
  const auto [name, rest] = in_two(line);
  auto macro = macros.find(name);
  if (macro == macros.end()) {
    out.push_back(line);
    return;
  }
  const std::vector<std::string> operands = split(rest, ',');
  const std::vector<std::string>& parameters = macro->second.parameters;
  for (std::string text : macro->second.lines) {
    for (size_t p = 0; p < std::min(operands.size(), parameters.size()); ++p)
      replace(text, std::string(kEscape) + parameters[p], operands[p]);
    put(text, macros, out);
  }
}

}  // namespace

std::vector<std::string> without_macros(const std::vector<std::string>& lines) {
  std::map<std::string, Macro> macros;
  Macro* open = nullptr;
  std::vector<std::string> out;
  for (const std::string& line : lines) {
    const auto [word, rest] = in_two(line);
    if (word == ".macro") {
      const auto [name, parameters] = in_two(rest);
      open = &macros[name];
      *open = {split(parameters, ','), {}};
    } else if (word == ".endm") {
      open = nullptr;
    } else if (open != nullptr) {
      open->lines.push_back(line);
    } else {
      put(line, macros, out);
    }
  }
  return out;
}

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> out;
  for (size_t from = 0; from <= text.size();) {
    const size_t to = std::min(text.find(at, from), text.size());
    out.emplace_back(text.substr(from, to - from));
    from = to + 1;
  }
  return out;
}

std::pair<std::string, std::string> in_two(const std::string& line) {
  const size_t space = std::min(line.find(' '), line.size());
  return {line.substr(0, space), space < line.size() ? line.substr(space + 1) : ""};
}

namespace {

// What it does to the numbers that are followed.
enum class Does : uint8_t { kNothing, kBranch, kStoreWord, kLoadWord, kMove, kAdd, kSubtract, kForget, kNotKnown };

// A register, or a number where there is none.
struct Operand {
  int reg = -1;
  int64_t number = 0;
};

struct Instruction {
  std::string name;
  std::vector<std::string> operands;
  Does does = Does::kForget;
  int to = -1;            // the register that is set
  Operand first, second;  // of a load or store: the register and the offset
  char condition = 0;     // '=', '!', '>' (or equal), '<'
  size_t target = 0;
};

// The sum that an offset is: "8+4".
int64_t offset_in(std::string_view text) {
  int64_t out = 0;
  for (const std::string& part : split(text, '+')) out += std::atoll(part.c_str());
  return out;
}

class Machine : public TextStepper {
 public:
  Machine(const Implementation& kernel, const std::vector<CountArgument>& arguments) : TextStepper(arguments) {
    for (const std::string& line : without_macros(kernel.lines)) put(line);
    for (size_t i = 0; i < code_.size(); ++i) prepare(code_[i], i + 1);
    for (size_t a = 0; a < arguments.size() && a < kernel.arguments.size(); ++a)
      registers_[static_cast<size_t>(register_of(kernel.arguments[a]))] = argument(a);
    registers_[static_cast<size_t>(register_of("sp"))] = {Value::kStack, 0};
    registers_[static_cast<size_t>(register_of("zero"))] = {Value::kNumber, 0};
  }

 private:
  size_t size() const override { return code_.size(); }

  machine::Instruction parsed(size_t i, uint32_t address) const override {
    std::string operands;
    for (const std::string& o : code_[i].operands) operands += (operands.empty() ? "" : ",") + o;
    return machine::parse_instruction(machine::Isa::kRiscv, address, 4, code_[i].name, operands);
  }

  // ---------------------------------------------------------------- text

  void put(const std::string& line) {
    if (line.back() == ':') {
      labels_[std::atoi(line.c_str())].push_back(code_.size());
      return;
    }
    const auto [name, rest] = in_two(line);
    Instruction made;
    made.name = name;
    made.operands = split(rest, ',');
    code_.push_back(std::move(made));
  }

  int register_of(const std::string& name) {
    const auto [found, added] = names_.emplace(name, static_cast<int>(registers_.size()));
    if (added) registers_.emplace_back();
    return found->second;
  }

  Operand operand(const std::string& text) {
    const bool number = text[0] == '-' || (text[0] >= '0' && text[0] <= '9');
    if (number) return {-1, offset_in(text)};
    return {register_of(text), 0};
  }

  // `behind`: the number of the instruction behind it.
  void prepare(Instruction& i, size_t behind) {
    const std::string& n = i.name;
    if (n[0] == 'b') {
      i.does = Does::kBranch;
      i.first = operand(i.operands[0]);
      if (i.operands.size() > 2) i.second = operand(i.operands[1]);
      const std::string how = n.substr(1, 2);
      i.condition = how == "eq" ? '=' : how == "ne" ? '!' : how == "ge" ? '>' : '<';
      i.target = target(i.operands.back(), behind);
      return;
    }
    if (n[0] == 'j') {
      i.does = Does::kNotKnown;
      return;
    }
    if (n == "lw" || n == "sw") {
      i.does = n == "lw" ? Does::kLoadWord : Does::kStoreWord;
      const std::string& at = i.operands[1];
      const size_t open = at.find('(');
      i.first = {register_of(at.substr(open + 1, at.size() - open - 2)), offset_in(at.substr(0, open))};
      i.to = register_of(i.operands[0]);
      return;
    }
    if (n == "sb" || n == "sh") {
      i.does = Does::kNothing;
      return;
    }
    i.to = register_of(i.operands[0]);
    if (n == "li" || n == "mv") {
      i.does = Does::kMove;
      i.first = operand(i.operands[1]);
    } else if (n == "add" || n == "addi" || n == "sub") {
      i.does = n == "sub" ? Does::kSubtract : Does::kAdd;
      i.first = operand(i.operands[1]);
      i.second = operand(i.operands[2]);
    }
  }

  size_t target(const std::string& label, size_t behind) const {
    const std::vector<size_t>& places = labels_.at(std::atoi(label.c_str()));
    size_t last = 0;
    for (size_t p : places) {
      if (p >= behind) return label.back() == 'f' ? p : last;
      last = p;
    }
    return last;
  }

  // ---------------------------------------------------------------- steps

  Value value(const Operand& o) const {
    return o.reg >= 0 ? registers_[static_cast<size_t>(o.reg)] : Value{Value::kNumber, o.number};
  }

  // Forward where data decides: what is passed over is what is left out, the longer way goes through it.
  bool branch(const Instruction& i) {
    const Value difference = text_sum(value(i.first), value(i.second), -1);
    if (difference.where == Value::kLeftOut) return false;
    if (difference.where != Value::kNumber) return i.target >= at_;
    const int64_t d = difference.number;
    const Condition condition = i.condition == '='   ? Condition::kEqual
                                : i.condition == '!' ? Condition::kNotEqual
                                : i.condition == '>' ? Condition::kAtLeast
                                                     : Condition::kLess;
    if (decide(condition, d)) at_ = i.target;
    return true;
  }

  // Of a load or store.
  Value address(const Instruction& i) const {
    return text_sum(value({i.first.reg}), {Value::kNumber, i.first.number}, 1);
  }

  bool step(size_t here) override {
    const Instruction& i = code_[here];
    Value made;
    switch (i.does) {
      case Does::kNothing: return true;
      case Does::kNotKnown: return false;
      case Does::kBranch: return branch(i);
      case Does::kStoreWord: return store(address(i), registers_[static_cast<size_t>(i.to)]), true;
      case Does::kLoadWord: made = load(address(i)); break;
      case Does::kMove: made = value(i.first); break;
      case Does::kAdd: made = text_sum(value(i.first), value(i.second), 1); break;
      case Does::kSubtract: made = text_sum(value(i.first), value(i.second), -1); break;
      case Does::kForget: break;
    }
    registers_[static_cast<size_t>(i.to)] = made;
    return true;
  }

  void values(std::vector<Value*>& out) override {
    for (Value& value : registers_) out.push_back(&value);
  }

  std::vector<Instruction> code_;
  std::map<int, std::vector<size_t>> labels_;
  std::map<std::string, int> names_;
  std::vector<Value> registers_;
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

}  // namespace aotc::cores::riscv
