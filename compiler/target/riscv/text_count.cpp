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

struct Instruction {
  std::string name;
  std::vector<std::string> operands;
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
    for (size_t a = 0; a < arguments.size() && a < kernel.arguments.size(); ++a)
      registers_[kernel.arguments[a]] =
          arguments[a].pointer ? Value{static_cast<int>(a), 0} : Value{kNumber, arguments[a].value};
    registers_["sp"] = {kStack, 0};
    read(kernel.lines);
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
      code_.push_back({name, operands});
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

  Value value(const std::string& text) const {
    if (text == "zero") return {kNumber, 0};
    auto found = registers_.find(text);
    if (found != registers_.end()) return found->second;
    const bool number = text[0] == '-' || (text[0] >= '0' && text[0] <= '9');
    return number ? Value{kNumber, offset_in(text)} : Value{};
  }

  static Value sum(Value a, Value b, int sign) {
    if (!a.known() || !b.known()) return {};
    if (b.where == kNumber) return {a.where, a.number + sign * b.number};
    if (a.where == b.where && sign < 0) return {kNumber, a.number - b.number};
    return a.where == kNumber && sign > 0 ? Value{b.where, a.number + b.number} : Value{};
  }

  // "8+4(sp)".
  Value address(const std::string& text) const {
    const size_t open = text.find('(');
    return sum(value(text.substr(open + 1, text.size() - open - 2)), {kNumber, offset_in(text.substr(0, open))}, 1);
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
    const std::string& label = i.operands.back();
    const bool with_zero = i.operands.size() == 2;
    const Value difference = sum(value(i.operands[0]), with_zero ? Value{kNumber, 0} : value(i.operands[1]), -1);
    if (difference.where != kNumber) return label.back() == 'f';
    const int64_t d = difference.number;
    const std::string_view how = std::string_view(i.name).substr(1, 2);
    const bool taken = how == "eq" ? d == 0 : how == "ne" ? d != 0 : how == "ge" ? d >= 0 : d < 0;
    if (taken) at_ = target(label);
    return true;
  }

  size_t target(const std::string& label) const {
    const std::vector<size_t>& places = labels_.at(std::atoi(label.c_str()));
    size_t last = 0;
    for (size_t p : places) {
      if (p >= at_) return label.back() == 'f' ? p : last;
      last = p;
    }
    return last;
  }

  bool step(const Instruction& i) {
    const std::string& n = i.name;
    if (n[0] == 'b') return branch(i);
    if (n[0] == 'j') return false;
    if (n == "sw") {
      const Value to = address(i.operands[1]);
      if (to.where == kStack) stack_[to.number] = value(i.operands[0]);
      return true;
    }
    if (n == "sb" || n == "sh") return true;
    Value made;
    if (n == "lw")
      made = load(address(i.operands[1]));
    else if (n == "li" || n == "mv")
      made = value(i.operands[1]);
    else if (n == "add" || n == "addi" || n == "sub")
      made = sum(value(i.operands[1]), value(i.operands[2]), n[0] == 'a' ? 1 : -1);
    registers_[i.operands[0]] = made;
    return true;
  }

  const std::vector<CountArgument>& arguments_;
  std::map<std::string, Macro> macros_;
  std::vector<Instruction> code_;
  std::map<int, std::vector<size_t>> labels_;
  std::map<std::string, Value> registers_;
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
