// SPDX-License-Identifier: Apache-2.0
// The same for RISC-V with 32 bits, as binutils and LLVM print it with and without aliases.
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "machine/instruction.h"
#include "machine/value.h"

namespace aotc::machine {

namespace {

constexpr int kZero = 0, kRa = 1, kRvSp = 2, kNoRegister = -1;

int riscv_register(std::string_view name) {
  static const std::vector<std::string_view> kNames = {
      "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0",  "a1",  "a2", "a3", "a4", "a5",
      "a6",   "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};
  if (name == "fp") return 8;
  for (size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return static_cast<int>(i);
  if (name.size() < 2 || name.size() > 3 || name[0] != 'x') return kNoRegister;
  auto number = number_in(std::string(name.substr(1)));
  return number && *number >= 0 && *number < 32 ? static_cast<int>(*number) : kNoRegister;
}

// "12(sp)", "(a0)".
struct Displaced {
  int base = kNoRegister;
  int32_t offset = 0;
};

Displaced displaced(const std::string& text) {
  Displaced out;
  size_t open = text.find('('), close = text.find(')');
  if (open == std::string::npos || close == std::string::npos) return out;
  auto offset = open == 0 ? std::optional<int64_t>(0) : number_in(text.substr(0, open));
  if (!offset) return out;
  out.base = riscv_register(text.substr(open + 1, close - open - 1));
  out.offset = static_cast<int32_t>(*offset);
  return out;
}

class Riscv : public Semantics {
 public:
  explicit Riscv(const Elf& elf) : elf_(elf) {}

  State at_entry() const override {
    State state;
    state.registers[kRa].kind = Value::Kind::kReturn;
    return state;
  }

  void after_call(State& state) const override {
    for (int r : {1, 5, 6, 7, 10, 11, 12, 13, 14, 15, 16, 17, 28, 29, 30, 31}) set(state, r, {});
    state.forget_variables();
  }

  Step step(const Instruction& given, State& state) const override {
    Instruction i = given;
    if (i.mnemonic.starts_with("c.")) i.mnemonic = i.mnemonic.substr(2);
    Step out;
    // What lui or auipc has put into sp is half of an address, of which the next instruction adds the other half.
    const Value half = std::exchange(state.registers[kRvSp], Value{});
    if (half.is_constant() && (i.mnemonic == "addi" || i.mnemonic == "add") && riscv_register(operand(i, 0)) == kRvSp &&
        number_in(operand(i, i.operands.size() - 1))) {
      out.stack_switched = true;
      return out;
    }
    if (!flow(i, state, out) && !pushes(i, state, out) && !memory(i, state, out)) arithmetic(i, state, out);
    return out;
  }

 private:
  using Flow = Step::Flow;

  static Value get(const State& state, int r) {
    if (r == kZero) return Value::number(0);
    if (r == kRvSp) return state.sp_known ? Value::stack(state.sp) : Value{};
    return r > 0 ? state.registers[static_cast<size_t>(r)] : Value{};
  }

  static void set(State& state, int r, const Value& value) {
    if (r > 0 && r != kRvSp) state.registers[static_cast<size_t>(r)] = value;
  }

  void assign(const Instruction& i, State& state, int r, const Value& value, Step& out) const {
    if (r != kRvSp) return set(state, r, value);
    if (state.set_stack(value)) return;
    const bool half = i.mnemonic == "auipc" || i.mnemonic == "lui";
    if (value.is_constant() || half) {
      if (half) state.registers[kRvSp] = Value::number(0);
      out.stack_switched = true;
    } else {
      state.sp_known = false;
      out.problem = fmt::format("'{} {}' sets the stack pointer to an unknown value", i.mnemonic,
                                i.operands.empty() ? "" : i.operands.back());
    }
  }

  static void jump(const Value& to, bool by_register, Step& out) {
    out.flow = to.kind == Value::Kind::kReturn ? Flow::kReturn : Flow::kJump;
    out.target = to;
    out.by_register = by_register;
  }

  static Value address_in(const Instruction& i) {
    if (i.operands.empty()) return {};
    std::string text = i.operands.back();
    if (!text.starts_with("0x")) text = "0x" + text;
    auto to = number_in(text);
    return to ? Value::number(static_cast<uint32_t>(*to)) : Value{};
  }

  // Through ra it is a call; through t0, as libgcc's __riscv_save_4 is called, a jump that keeps the way back.
  void linked(const Instruction& i, State& state, int link, const Value& to, bool by_register, Step& out) const {
    if (link == kZero) return jump(to, by_register, out);
    if (link == kRa) {
      out.flow = Flow::kCall;
      out.target = to;
      out.by_register = by_register;
      return;
    }
    set(state, link, Value::number(i.next()));
    jump(to, by_register, out);
  }

  bool flow(const Instruction& i, State& state, Step& out) const {
    const std::string& m = i.mnemonic;
    if (m == "ret" || m == "mret" || m == "sret" || m == "uret") {
      if (m == "ret") jump(get(state, kRa), true, out);
      else out.flow = Flow::kReturn;
      return true;
    }
    if (m == "j") return jump(address_in(i), false, out), true;
    if (m == "jal") {
      int link = i.operands.size() > 1 ? riscv_register(operand(i, 0)) : kRa;
      linked(i, state, link, address_in(i), false, out);
      return true;
    }
    if (m == "jr" || m == "jalr") {
      const size_t last = i.operands.empty() ? 0 : i.operands.size() - 1;
      int link = m == "jr" ? kZero : kRa;
      size_t from = 0;
      if (m == "jalr" && last > 0) {
        link = riscv_register(operand(i, 0));
        from = 1;
      }
      Displaced place = displaced(operand(i, from));
      if (place.base == kNoRegister) {
        place.base = riscv_register(operand(i, from));
        if (last > from) place.offset = static_cast<int32_t>(number_in(operand(i, from + 1)).value_or(0));
      }
      Value to = plus(get(state, place.base), Value::number(static_cast<uint32_t>(place.offset)));
      if (place.offset == 0) to = get(state, place.base);
      linked(i, state, link, to, true, out);
      return true;
    }
    if (m == "unimp" || m.starts_with(".") || m.starts_with("<")) {
      out.flow = Flow::kStop;
      out.undecoded = m != "unimp";
      return true;
    }
    static const std::set<std::string_view> kBranches = {"beq",  "bne",  "blt",  "bge",  "bltu", "bgeu",
                                                         "bgt",  "ble",  "bgtu", "bleu", "beqz", "bnez",
                                                         "blez", "bgez", "bltz", "bgtz"};
    if (!kBranches.contains(m)) return false;
    out.flow = Flow::kBranch;
    out.target = address_in(i);
    bound(i, state, out);
    return true;
  }

  // Branches of unsigned comparisons with a constant.
  static void bound(const Instruction& i, const State& state, Step& out) {
    const std::string& m = i.mnemonic;
    if (!m.ends_with("u") || i.operands.size() < 3) return;
    // "left < right" (or not above) holds on one of both ways.
    bool swapped = m == "bgtu" || m == "bleu";
    int left = riscv_register(i.operands[swapped ? 1 : 0]), right = riscv_register(i.operands[swapped ? 0 : 1]);
    bool less = m == "bltu" || m == "bgtu";
    Value l = get(state, left), r = get(state, right);
    if (r.is_constant() && !l.is_constant() && r.base > 0) {
      out.bounded = left;  // left < right if it is taken
      out.not_above = r.base - 1;
      out.bounded_if_taken = less;
    } else if (l.is_constant() && !r.is_constant()) {
      out.bounded = right;  // not left < right
      out.not_above = l.base;
      out.bounded_if_taken = !less;
    }
  }

  // cm.push {ra, s0-s1}, -16: Zcmp.
  bool pushes(const Instruction& i, State& state, Step& out) const {
    const std::string& m = i.mnemonic;
    if (!m.starts_with("cm.push") && !m.starts_with("cm.pop")) return false;
    auto bytes = number_in(i.operands.empty() ? "" : i.operands.back());
    if (!bytes || *bytes > 4096 || *bytes < -4096) {
      state.sp_known = false;
      out.problem = "a push of unknown size";
    } else if (m == "cm.push") {
      state.store(state.sp - 4, get(state, kRa));
      state.sp -= static_cast<int32_t>(*bytes < 0 ? -*bytes : *bytes);
    } else {
      state.sp += static_cast<int32_t>(*bytes < 0 ? -*bytes : *bytes);
      for (int r : {8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27}) set(state, r, {});
      set(state, kRa, Value{.kind = Value::Kind::kReturn});
      if (m.starts_with("cm.popret")) out.flow = Flow::kReturn;
    }
    return true;
  }

  bool memory(const Instruction& i, State& state, Step& out) const {
    if (i.operands.size() < 2) return false;
    const std::string& m = i.mnemonic;
    Displaced place = displaced(i.operands.back());
    if (place.base == kNoRegister) return false;
    Value address = plus(get(state, place.base), Value::number(static_cast<uint32_t>(place.offset)));
    int r = riscv_register(i.operands[0]);
    bool store = m == "sw" || m == "sh" || m == "sb" || m.starts_with("fs") || m == "swsp";
    if (store) {
      if (!address.is_stack() && !address.is_constant()) state.forget_variables();
      if (address.is_stack()) state.store(address.offset, m.starts_with("sw") ? get(state, r) : Value{});
      if (address.is_stack() && m == "fsd") state.store(int64_t{address.offset} + 4, {});
      return true;
    }
    Value value;
    if (m == "lw" || m == "lwsp")
      value = address.is_stack() ? state.load(address.offset) : loaded(elf_, address, 4, false);
    else if (m == "lb" || m == "lbu" || m == "lh" || m == "lhu")
      value = loaded(elf_, address, m[1] == 'b' ? 1 : 2, m.size() == 2);
    assign(i, state, r, value, out);
    return true;
  }

  void arithmetic(const Instruction& i, State& state, Step& out) const {
    const std::string& m = i.mnemonic;
    int r = riscv_register(operand(i, 0));
    if (m == "ecall") out.assumption = "the handler of ecall is not counted: add it with --interrupts";
    if (r == kNoRegister || m.starts_with("csrw") || m == "sfence.vma") return;
    assign(i, state, r, result(i, state), out);
  }

  static Value result(const Instruction& i, const State& state) {
    std::string m = i.mnemonic;
    if (m == "lui" || m == "auipc") {
      auto number = number_in(operand(i, 1));
      if (!number) return {};
      return Value::number((static_cast<uint32_t>(*number) << 12) + (m == "auipc" ? i.address : 0));
    }
    // "addi sp,-32" is short for "addi sp,sp,-32".
    const size_t last = i.operands.size() - 1;
    if (m == "mv" || m == "li") return value_of(state, operand(i, 1));
    if (last == 0) return {};
    Value left = value_of(state, operand(i, last == 1 ? 0 : 1)), right = value_of(state, operand(i, last));
    if (m == "addi16sp" || m == "addi4spn" || m == "add" || m == "addi") return plus(left, right);
    if (m == "sub") return minus(left, right);
    if (m == "slli" || m == "sll") return right.is_constant() ? shifted_left(left, right.base) : Value{};
    if (m == "and" || m == "andi") return right.is_constant() ? masked(left, right.base) : Value{};
    if (m == "zext.b") return masked(right, 0xffu);
    if (m == "zext.h") return masked(right, 0xffffu);
    if (m.size() == 6 && m.starts_with("sh") && m.ends_with("add"))
      return plus(shifted_left(left, static_cast<uint32_t>(m[2] - '0')), right);
    return {};
  }

  static Value value_of(const State& state, const std::string& text) {
    if (auto number = number_in(text)) return Value::number(static_cast<uint32_t>(*number));
    return get(state, riscv_register(text));
  }

  const Elf& elf_;
};

}  // namespace

std::unique_ptr<Semantics> riscv_semantics(const Elf& elf) { return std::make_unique<Riscv>(elf); }

}  // namespace aotc::machine
