// SPDX-License-Identifier: Apache-2.0
#include "target/riscv/text_count.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace aotc::target::riscv {

namespace {

constexpr int kUnknown = -2, kNumber = -1, kStack = 100;  // where a value points to; else an argument
constexpr int64_t kMostSteps = int64_t{1} << 24;
constexpr std::string_view kEscape = "\\\\";  // of a macro's parameter, as the C string has it

struct Value {
  int where = kUnknown;
  int64_t number = 0;
  bool known() const { return where != kUnknown; }
};

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
  int to = -1;  // the register that is set
  Operand first, second;  // of a load or store: the register and the offset
  char condition = 0;  // '=', '!', '>' (or equal), '<'
  size_t target = 0;
};

struct Macro {
  std::vector<std::string> parameters, lines;
};

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> out;
  for (size_t from = 0; from <= text.size();) {
    const size_t to = std::min(text.find(at, from), text.size());
    out.emplace_back(text.substr(from, to - from));
    from = to + 1;
  }
  return out;
}

// "lw", "a4,8(a1)"; nothing behind a word that stands alone.
std::pair<std::string, std::string> in_two(const std::string& line) {
  const size_t space = std::min(line.find(' '), line.size());
  return {line.substr(0, space), space < line.size() ? line.substr(space + 1) : ""};
}

// The sum that an offset is: "8+4".
int64_t offset_in(std::string_view text) {
  int64_t out = 0;
  for (const std::string& part : split(text, '+')) out += std::atoll(part.c_str());
  return out;
}

class Machine {
 public:
  Machine(const Implementation& kernel, const std::vector<CountArgument>& arguments) : arguments_(arguments) {
    read(kernel.lines);
    for (size_t i = 0; i < code_.size(); ++i) prepare(code_[i], i + 1);
    for (size_t a = 0; a < arguments.size() && a < kernel.arguments.size(); ++a)
      registers_[static_cast<size_t>(register_of(kernel.arguments[a]))] =
          arguments[a].pointer ? Value{static_cast<int>(a), 0} : Value{kNumber, arguments[a].value};
    registers_[static_cast<size_t>(register_of("sp"))] = {kStack, 0};
    registers_[static_cast<size_t>(register_of("zero"))] = {kNumber, 0};
  }

  std::optional<int64_t> run() {
    for (at_ = 0; at_ < code_.size(); ++steps_)
      if (steps_ > kMostSteps || !step(code_[at_++])) return std::nullopt;
    return steps_;
  }

  std::optional<double> cycles(const machine::Timing& timing) {
    const std::vector<machine::InstructionCost> costs = costs_of(timing);
    double out = 0;
    for (at_ = 0; at_ < code_.size(); ++steps_) {
      const size_t here = at_++;
      if (steps_ > kMostSteps || !step(code_[here])) return std::nullopt;
      out += costs[here].cycles + (at_ != here + 1 ? costs[here].taken : 0);
    }
    return out;
  }

 private:
  std::vector<machine::InstructionCost> costs_of(const machine::Timing& timing) const {
    std::vector<machine::Instruction> all;
    for (const Instruction& i : code_) {
      std::string operands;
      for (const std::string& o : i.operands) operands += (operands.empty() ? "" : ",") + o;
      all.push_back(machine::parse_instruction(machine::Isa::kRiscv, static_cast<uint32_t>(4 * all.size()), 4, i.name, operands));
    }
    std::vector<machine::InstructionCost> out;
    for (size_t i = 0; i < all.size(); ++i)
      out.push_back(machine::cost_of(timing, machine::Isa::kRiscv, all[i], i > 0 ? &all[i - 1] : nullptr,
                                     i + 1 < all.size() ? &all[i + 1] : nullptr));
    return out;
  }

  // ---------------------------------------------------------------- text

  void read(const std::vector<std::string>& lines) {
    Macro* open = nullptr;
    for (const std::string& line : lines) {
      const auto [word, rest] = in_two(line);
      if (word == ".macro") {
        const auto [name, parameters] = in_two(rest);
        open = &macros_[name];
        *open = {split(parameters, ','), {}};
      } else if (word == ".endm") {
        open = nullptr;
      } else if (open != nullptr) {
        open->lines.push_back(line);
      } else {
        put(line);
      }
    }
  }

  void put(const std::string& line) {
    if (is_comment(line) || line[0] == '.') return;
    if (line.back() == ':') {
      labels_[std::atoi(line.c_str())].push_back(code_.size());
      return;
    }
    const auto [name, rest] = in_two(line);
    const std::vector<std::string> operands = split(rest, ',');
    auto macro = macros_.find(name);
    if (macro == macros_.end()) {
      Instruction made;
      made.name = name;
      made.operands = operands;
      code_.push_back(std::move(made));
      return;
    }
    for (std::string text : macro->second.lines) {
      for (size_t p = 0; p < operands.size(); ++p) replace(text, std::string(kEscape) + macro->second.parameters[p], operands[p]);
      put(text);
    }
  }

  static void replace(std::string& text, const std::string& what, const std::string& by) {
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) text.replace(at, what.size(), by);
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

  Value value(const Operand& o) const { return o.reg >= 0 ? registers_[static_cast<size_t>(o.reg)] : Value{kNumber, o.number}; }

  static Value sum(Value a, Value b, int sign) {
    if (!a.known() || !b.known()) return {};
    if (b.where == kNumber) return {a.where, a.number + sign * b.number};
    if (a.where == b.where && sign < 0) return {kNumber, a.number - b.number};
    return a.where == kNumber && sign > 0 ? Value{b.where, a.number + b.number} : Value{};
  }

  Value load(Value at) const {
    if (at.where == kStack) {
      auto found = stack_.find(at.number);
      return found == stack_.end() ? Value{} : found->second;
    }
    if (at.where < 0 || at.where >= static_cast<int>(arguments_.size())) return {};
    const std::span<const uint8_t> table = arguments_[static_cast<size_t>(at.where)].table;
    if (at.number < 0 || at.number + 4 > static_cast<int64_t>(table.size())) return {};
    int32_t word = 0;
    std::memcpy(&word, table.data() + at.number, 4);
    return {kNumber, word};
  }

  // Forward where data decides: what is passed over is what is left out, the longer way goes through it.
  bool branch(const Instruction& i) {
    const Value difference = sum(value(i.first), value(i.second), -1);
    if (difference.where != kNumber) return i.target >= at_;
    const int64_t d = difference.number;
    const bool taken = i.condition == '=' ? d == 0 : i.condition == '!' ? d != 0 : i.condition == '>' ? d >= 0 : d < 0;
    if (taken) at_ = i.target;
    return true;
  }

  bool step(const Instruction& i) {
    Value made;
    switch (i.does) {
      case Does::kNothing: return true;
      case Does::kNotKnown: return false;
      case Does::kBranch: return branch(i);
      case Does::kStoreWord: {
        const Value at = sum(value({i.first.reg}), {kNumber, i.first.number}, 1);
        if (at.where == kStack) stack_[at.number] = registers_[static_cast<size_t>(i.to)];
        return true;
      }
      case Does::kLoadWord: made = load(sum(value({i.first.reg}), {kNumber, i.first.number}, 1)); break;
      case Does::kMove: made = value(i.first); break;
      case Does::kAdd: made = sum(value(i.first), value(i.second), 1); break;
      case Does::kSubtract: made = sum(value(i.first), value(i.second), -1); break;
      case Does::kForget: break;
    }
    registers_[static_cast<size_t>(i.to)] = made;
    return true;
  }

  const std::vector<CountArgument>& arguments_;
  std::map<std::string, Macro> macros_;
  std::vector<Instruction> code_;
  std::map<int, std::vector<size_t>> labels_;
  std::map<std::string, int> names_;
  std::vector<Value> registers_;
  std::map<int64_t, Value> stack_;
  size_t at_ = 0;
  int64_t steps_ = 0;
};

}  // namespace

std::optional<int64_t> count_instructions(const Implementation& kernel, const std::vector<CountArgument>& arguments) {
  return Machine(kernel, arguments).run();
}

std::optional<double> count_cycles(const Implementation& kernel, const std::vector<CountArgument>& arguments,
                                   const machine::Timing& timing) {
  return Machine(kernel, arguments).cycles(timing);
}

}  // namespace aotc::target::riscv
