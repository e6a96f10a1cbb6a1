// SPDX-License-Identifier: Apache-2.0
#include "cores/riscv/text_count.h"

#include <array>
#include <cstdlib>
#include <map>
#include <string>

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

using machine::Isa;
using machine::Op;
using machine::Operand;

struct Line {
  machine::Instruction instruction;
  std::string condition, label;  // of a branch
  size_t target = 0;
};

struct Code {
  explicit Code(const std::vector<std::string>& text) {
    for (const std::string& line : without_macros(text)) put(line);
    for (size_t i = 0; i < lines.size(); ++i)
      if (lines[i].instruction.op == Op::kBranch) lines[i].target = target(lines[i].label, i + 1);
  }

  void put(const std::string& line) {
    if (line.back() == ':') {
      labels[std::atoi(line.c_str())].push_back(lines.size());
      return;
    }
    const auto [name, rest] = in_two(line);
    lines.push_back({machine::parse_instruction(Isa::kRiscv, 0, 4, name, rest), name.substr(1, 2),
                     rest.substr(rest.rfind(',') + 1)});
  }

  size_t target(const std::string& label, size_t behind) const {
    const std::vector<size_t>& places = labels.at(std::atoi(label.c_str()));
    size_t last = 0;
    for (size_t p : places) {
      if (p >= behind) return label.back() == 'f' ? p : last;
      last = p;
    }
    return last;
  }

  std::vector<Line> lines;
  std::map<int, std::vector<size_t>> labels;
};

class Machine : public TextStepper {
 public:
  Machine(const Implementation& kernel, const std::vector<CountArgument>& arguments)
      : TextStepper(arguments), code_(read_once<Code>(kernel.lines)) {
    for (size_t a = 0; a < arguments.size() && a < kernel.arguments.size(); ++a)
      registers_[static_cast<size_t>(machine::register_of(Isa::kRiscv, kernel.arguments[a]))] = argument(a);
    registers_[static_cast<size_t>(machine::register_of(Isa::kRiscv, "sp"))] = {Value::kStack, 0};
    registers_[0] = {Value::kNumber, 0};
  }

 private:
  size_t size() const override { return code_->lines.size(); }
  const machine::Instruction& parsed(size_t i) const override { return code_->lines[i].instruction; }

  Value value(const Operand& o) const {
    if (o.is_number()) return {Value::kNumber, o.number};
    return o.reg >= 0 && o.reg < 32 ? registers_[static_cast<size_t>(o.reg)] : Value{};
  }

  // Forward where data decides: what is passed over is what is left out, the longer way goes through it.
  bool branch(const Line& line) {
    const std::vector<Operand>& reads = line.instruction.reads;
    const Value difference = text_sum(value(reads[0]), value(reads.size() > 2 ? reads[1] : Operand{}), -1);
    if (difference.where == Value::kLeftOut) return false;
    if (difference.where != Value::kNumber) return line.target >= at_;
    const Condition condition = line.condition == "eq"   ? Condition::kEqual
                                : line.condition == "ne" ? Condition::kNotEqual
                                : line.condition == "ge" ? Condition::kAtLeast
                                                         : Condition::kLess;
    if (decide(condition, difference.number)) at_ = line.target;
    return true;
  }

  bool step(size_t here) override {
    const machine::Instruction& i = code_->lines[here].instruction;
    const Value address = text_sum(value({i.memory.base}), {Value::kNumber, i.memory.offset}, 1);
    Value made;
    switch (i.op) {
      case Op::kBranch: return branch(code_->lines[here]);
      case Op::kJump:
      case Op::kCall: return false;
      case Op::kStore:
        if (i.memory.bytes == 4) store(address, value(i.reads[0]));
        break;
      case Op::kLoad:
        if (i.memory.bytes == 4) made = load(address);
        break;
      case Op::kMove: made = value(i.reads[0]); break;
      case Op::kAdd: made = text_sum(value(i.reads[0]), value(i.reads[1]), 1); break;
      case Op::kSubtract: made = text_sum(value(i.reads[0]), value(i.reads[1]), -1); break;
      default: break;
    }
    for (int r : i.writes)
      if (r < 32) registers_[static_cast<size_t>(r)] = made;
    return true;
  }

  void values(std::vector<Value*>& out) override {
    for (Value& value : registers_) out.push_back(&value);
  }

  std::shared_ptr<const Code> code_;
  std::array<Value, 32> registers_ = {};
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
