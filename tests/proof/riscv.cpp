// SPDX-License-Identifier: Apache-2.0
// RV32IMC instructions, as LLVM prints them: compressed ones as those that they stand for. The effects follow the
// RISC-V Instruction Set Manual.
#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "machine.h"
#include "word.h"

namespace aotc::tests::proof {

namespace {

constexpr std::string_view kRiscvNames[] = {"zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "s0", "s1", "a0",
                                            "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
                                            "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};
constexpr int kRiscvRegisters = 32, kRiscvSp = 2, kRiscvA0 = 10;

class Riscv final : public Machine {
 public:
  Riscv(Terms& terms, Memory& memory, const std::vector<Instruction>& text, const Call& call)
      : Machine(terms, memory, text, call) {
    begin(kRiscvRegisters, 0, kRiscvA0);
    Machine::set(0, 0);
    for (int r = 1; r < kRiscvRegisters; ++r) may_not_change(r, std::string(kRiscvNames[r]));
  }

  // Of a branch: whether it is taken. Nothing of others.
  using Condition = Term (Riscv::*)(const Instruction&);
  using Effect = void (Riscv::*)(const Instruction&);
  struct Row {
    Effect effect;
    Condition condition = nullptr;
  };
  static const std::map<std::string, Row, std::less<>>& table();

 private:
  const Row& row(const Instruction& i) const {
    static const std::vector<Row> kRows = [] {
      std::vector<Row> out;
      for (const auto& [name, row] : table()) out.push_back(row);
      return out;
    }();
    return kRows[i.code];
  }

  void execute(const Instruction& i) override { (this->*row(i).effect)(i); }
  Term condition_of(const Instruction& i) override {
    return is_conditional(i) ? decided((this->*row(i).condition)(i)) : constant(1);
  }
  bool is_conditional(const Instruction& i) const override { return row(i).condition != nullptr; }
  std::optional<int> target_of(const Instruction& i) const override {
    if (!is_conditional(i) && i.name != "j") return std::nullopt;
    return i.at + static_cast<int>(number(i, i.operands.size() - 1));
  }
  bool is_computed_jump(const Instruction&) const override { return false; }
  int stack_pointer() const override { return kRiscvSp; }

  using Machine::get;
  Term get(const Instruction& i, size_t k) const { return get(reg(i, k)); }
  void set(const Instruction& i, Term v) {
    if (reg(i, 0) != 0) Machine::set(reg(i, 0), v);
  }
  int amount(const Instruction& i) const {
    const int64_t by = number(i, 2);
    if (by < 0 || by >= kWord) throw Failure("a shift: " + i.text);
    return static_cast<int>(by);
  }
  Term immediate(const Instruction& i, size_t k) {
    constexpr int64_t kMost = 2048;
    const int64_t v = number(i, k);
    if (v < -kMost || v >= kMost) throw Failure("a number: " + i.text);
    return constant(v);
  }
  Term place(const Instruction& i) {
    const Operand& o = operand(i, 1);
    if (o.kind != Operand::Kind::kMemory) throw Failure("no address: " + i.text);
    return t_.add(get(o.reg), constant(o.number));
  }

  template <int kBytes, bool kSigned>
  void load_one(const Instruction& i) {
    set(i, load(place(i), kBytes, kSigned, kBytes));
  }
  template <int kBytes>
  void store_one(const Instruction& i) {
    store(place(i), kBytes, get(i, 0), kBytes);
  }

  void add(const Instruction& i) { set(i, t_.add(get(i, 1), get(i, 2))); }
  void addi(const Instruction& i) { set(i, t_.add(get(i, 1), immediate(i, 2))); }
  void sub(const Instruction& i) { set(i, t_.subtract(get(i, 1), get(i, 2))); }
  void neg(const Instruction& i) { set(i, t_.subtract(0, get(i, 1))); }
  void move(const Instruction& i) { set(i, get(i, 1)); }
  void li(const Instruction& i) { set(i, immediate(i, 1)); }
  void lui(const Instruction& i) { set(i, constant(number(i, 1) << 12)); }
  template <Operation op>
  void bitwise(const Instruction& i) {
    set(i, t_.bit_operation(op, get(i, 1), get(i, 2)));
  }
  template <Operation op>
  void bitwise_number(const Instruction& i) {
    set(i, t_.bit_operation(op, get(i, 1), immediate(i, 2)));
  }
  void slli(const Instruction& i) { set(i, t_.shift_left(get(i, 1), amount(i))); }
  template <bool kSigned>
  void shift_right(const Instruction& i) {
    set(i, t_.shift_right(get(i, 1), amount(i), kSigned));
  }
  void sra(const Instruction& i) {
    set(i, t_.shift_right(get(i, 1), static_cast<int>(known(t_.slice(get(i, 2), 0, 5, false))), true));
  }
  void mul(const Instruction& i) { set(i, t_.multiply(get(i, 1), get(i, 2))); }
  void mulh(const Instruction& i) { set(i, t_.high_word(get(i, 1), get(i, 2))); }
  void nop(const Instruction&) {}
  void jump(const Instruction& i) { next_ = *target_of(i); }

  Term less_unsigned(Term a, Term b) {
    const auto x = t_.value_of(a), y = t_.value_of(b);
    if (x && y) return constant(*x < *y ? 1 : 0);
    const Term sign = constant(int64_t{1} << (kWord - 1));
    return t_.less(t_.bit_operation(Operation::kXor, a, sign), t_.bit_operation(Operation::kXor, b, sign));
  }
  template <bool kEqual>
  Term equal(const Instruction& i) {
    const Term is = t_.is_zero(t_.subtract(get(i, 0), get(i, 1)));
    return kEqual ? is : t_.opposite(is);
  }
  template <bool kEqual>
  Term zero(const Instruction& i) {
    const Term is = t_.is_zero(get(i, 0));
    return kEqual ? is : t_.opposite(is);
  }
  template <bool kLess>
  Term ordered(const Instruction& i) {
    const Term is = t_.less(get(i, 0), get(i, 1));
    return kLess ? is : t_.opposite(is);
  }
  template <bool kLess>
  Term ordered_unsigned(const Instruction& i) {
    const Term is = less_unsigned(get(i, 0), get(i, 1));
    return kLess ? is : t_.opposite(is);
  }
  template <bool kLess>
  Term negative(const Instruction& i) {
    const Term is = t_.less(get(i, 0), 0);
    return kLess ? is : t_.opposite(is);
  }
  template <bool kMore>
  Term positive(const Instruction& i) {
    const Term is = t_.less(0, get(i, 0));
    return kMore ? is : t_.opposite(is);
  }
};

const std::map<std::string, Riscv::Row, std::less<>>& Riscv::table() {
  static const std::map<std::string, Row, std::less<>> kTable = {
      {"lb", {&Riscv::load_one<1, true>}},
      {"lbu", {&Riscv::load_one<1, false>}},
      {"lh", {&Riscv::load_one<2, true>}},
      {"lhu", {&Riscv::load_one<2, false>}},
      {"lw", {&Riscv::load_one<4, false>}},
      {"sb", {&Riscv::store_one<1>}},
      {"sh", {&Riscv::store_one<2>}},
      {"sw", {&Riscv::store_one<4>}},
      {"add", {&Riscv::add}},
      {"addi", {&Riscv::addi}},
      {"sub", {&Riscv::sub}},
      {"neg", {&Riscv::neg}},
      {"mv", {&Riscv::move}},
      {"li", {&Riscv::li}},
      {"lui", {&Riscv::lui}},
      {"and", {&Riscv::bitwise<Operation::kAnd>}},
      {"or", {&Riscv::bitwise<Operation::kOr>}},
      {"xor", {&Riscv::bitwise<Operation::kXor>}},
      {"andi", {&Riscv::bitwise_number<Operation::kAnd>}},
      {"ori", {&Riscv::bitwise_number<Operation::kOr>}},
      {"xori", {&Riscv::bitwise_number<Operation::kXor>}},
      {"slli", {&Riscv::slli}},
      {"srli", {&Riscv::shift_right<false>}},
      {"srai", {&Riscv::shift_right<true>}},
      {"sra", {&Riscv::sra}},
      {"mul", {&Riscv::mul}},
      {"mulh", {&Riscv::mulh}},
      {"nop", {&Riscv::nop}},
      {"j", {&Riscv::jump}},
      {"beq", {&Riscv::jump, &Riscv::equal<true>}},
      {"bne", {&Riscv::jump, &Riscv::equal<false>}},
      {"blt", {&Riscv::jump, &Riscv::ordered<true>}},
      {"bge", {&Riscv::jump, &Riscv::ordered<false>}},
      {"bltu", {&Riscv::jump, &Riscv::ordered_unsigned<true>}},
      {"bgeu", {&Riscv::jump, &Riscv::ordered_unsigned<false>}},
      {"beqz", {&Riscv::jump, &Riscv::zero<true>}},
      {"bnez", {&Riscv::jump, &Riscv::zero<false>}},
      {"bltz", {&Riscv::jump, &Riscv::negative<true>}},
      {"bgez", {&Riscv::jump, &Riscv::negative<false>}},
      {"bgtz", {&Riscv::jump, &Riscv::positive<true>}},
      {"blez", {&Riscv::jump, &Riscv::positive<false>}},
  };
  return kTable;
}

// "a0", "-128" or "4(a1)".
Operand riscv_operand(std::string_view s) {
  Operand out;
  auto number = [&](std::string_view from) {
    try {
      return std::stoll(std::string(from), nullptr, 0);
    } catch (const std::exception&) {
      throw Failure(fmt::format("operand '{}'", s));
    }
  };
  auto name = [&](std::string_view from) {
    const auto found = std::ranges::find(kRiscvNames, from);
    return found != std::end(kRiscvNames) ? static_cast<int>(found - kRiscvNames) : -1;
  };
  if (const int r = name(s); r >= 0) {
    out.kind = Operand::Kind::kRegister, out.reg = r;
  } else if (s.ends_with(')')) {
    const size_t open = s.find('(');
    out.kind = Operand::Kind::kMemory;
    out.number = number(s.substr(0, open));
    out.reg = name(s.substr(open + 1, s.size() - open - 2));
    if (out.reg < 0) throw Failure(fmt::format("operand '{}'", s));
  } else {
    out.number = number(s);
  }
  return out;
}

class RiscvIsa final : public Isa {
 public:
  CoreName core() const override { return {"riscv32", "generic-rv32", "+m,+a,+c"}; }
  std::pair<std::string, std::string> frame() const override { return {"", ""}; }
  Instruction read(const MachineCode::Line& line) const override {
    Instruction out;
    out.at = line.at, out.bytes = line.bytes, out.text = line.text;
    std::replace(out.text.begin(), out.text.end(), '\t', ' ');
    const std::string_view text =
        std::string_view(out.text).substr(std::min(out.text.find_first_not_of(' '), out.text.size()));
    const size_t end = std::min(text.find(' '), text.size());
    const std::string name(text.substr(0, end));
    if (!set_name(out, name)) throw Failure("the checker has no instruction: " + out.text);
    for (size_t from = end; from < text.size();) {
      const size_t comma = std::min(text.find(',', from), text.size());
      std::string_view part = text.substr(from, comma - from);
      while (part.starts_with(' ')) part.remove_prefix(1);
      if (!part.empty()) out.operands.push_back(riscv_operand(part));
      from = comma + 1;
    }
    return out;
  }
  bool set_name(Instruction& to, const std::string& name) const override {
    const auto found = Riscv::table().find(name);
    if (found == Riscv::table().end()) return false;
    to.name = name;
    to.code = static_cast<size_t>(std::distance(Riscv::table().begin(), found));
    return true;
  }
  const std::vector<std::vector<std::string>>& alike() const override {
    static const std::vector<std::vector<std::string>> kAlike = {
        {"add", "sub", "and", "or", "xor", "mul", "mulh"},
        {"addi", "andi", "ori", "xori"},
        {"slli", "srli", "srai"},
        {"mv", "neg"},
        {"lb", "lbu", "lh", "lhu", "lw"},
        {"sb", "sh", "sw"},
        {"beq", "bne", "blt", "bge", "bltu", "bgeu"},
        {"beqz", "bnez", "bltz", "bgez", "bgtz", "blez"},
    };
    return kAlike;
  }
  int registers() const override { return kRiscvRegisters; }
  Instruction nothing(const Instruction& at) const override {
    Instruction out = at;
    set_name(out, "nop");
    out.operands.clear();
    return out;
  }
  std::unique_ptr<Machine> machine(Terms& terms, Memory& memory, const std::vector<Instruction>& text,
                                   const Call& call) const override {
    return std::make_unique<Riscv>(terms, memory, text, call);
  }
};

}  // namespace

const Isa& riscv() {
  static const RiscvIsa kIsa;
  return kIsa;
}

}  // namespace aotc::tests::proof
