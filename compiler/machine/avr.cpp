// SPDX-License-Identifier: Apache-2.0
// The effect of AVR's instructions, as words.cpp has it of the others: the stack pointer is two registers of input and
// output, frames are set up in r28 and r29, and code addresses in registers count words.
#include <fmt/format.h>

#include "machine/instruction.h"
#include "machine/value.h"

namespace aotc::machine {

namespace {

constexpr Operand kSpl = {kNoRegister, 0x3d}, kSph = {kNoRegister, 0x3e};

class Avr : public Semantics {
 public:
  explicit Avr(const Elf& elf) : elf_(elf) {}

  // The call pushed the address to return to; `sp` counts from before it.
  State at_entry() const override {
    State state;
    state.sp = -static_cast<int32_t>(elf_.return_bytes());
    state.registers[1] = Value::number(0);
    return state;
  }

  std::vector<int> arguments() const override { return {}; }

  void after_call(State& state) const override {
    for (int r : {0, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 30, 31}) set(state, r, {});
    state.compared = kNoRegister;
    state.forget_variables();
  }

  Step step(const Instruction& i, State& state) const override {
    Step out;
    const Operand to = i.reads.empty() ? Operand{kUnknownRegister} : i.reads.back();
    switch (i.op) {
      case Op::kReturn: out.flow = Flow::kReturn; break;
      case Op::kStop: out.flow = Flow::kStop; break;
      case Op::kJump:
      case Op::kCall:
        out.by_register = !to.is_number();
        out.target = to.is_number() ? get(state, to) : to.is_register() ? address_in_z(state) : Value{};
        // "rcall .+0" takes two bytes of stack.
        if (i.op == Op::kCall && out.target == Value::number(i.next()))
          state.sp -= static_cast<int32_t>(elf_.return_bytes());
        else out.flow = i.op == Op::kCall ? Flow::kCall : Flow::kJump;
        break;
      case Op::kSkip:
        out.flow = Flow::kBranch;
        out.target = Value::number(i.next() + skipped_bytes(i.next()));
        break;
      case Op::kBranch:
        out.flow = Flow::kBranch;
        out.target = get(state, to);
        // After cpi and cpc with zero: carry says that the pair is below.
        if (state.compared >= 0 && state.compared_with > 0 && i.condition != Condition::kOther) {
          out.bounded = state.compared;
          out.not_above = state.compared_with - 1;
          out.bounded_if_taken = i.condition == Condition::kBelow;
          out.bounds_pair = state.compared_pair;
        }
        break;
      case Op::kCompare:
      case Op::kCompareCarry: compare(i, state); break;
      case Op::kIn:
        for (int r : i.writes) set(state, r, port(to, state));
        break;
      case Op::kOut:
        if (!i.reads.empty() && (i.reads[0] == kSpl || i.reads[0] == kSph))
          written(get(state, to), i.reads[0] == kSpl, state, out);
        break;
      case Op::kLoad:
      case Op::kStore: access(i, state); break;
      case Op::kLoadProgram: load_program(i, state); break;
      default: arithmetic(i, state);
    }
    return out;
  }

 private:
  using Flow = Step::Flow;

  static Value get(const State& state, int r) {
    return r >= 0 && r < 32 ? state.registers[static_cast<size_t>(r)] : Value{};
  }

  static void set(State& state, int r, const Value& value) {
    if (r < 0 || r > 31) return;
    state.registers[static_cast<size_t>(r)] = value;
    if (r == state.compared) state.compared = kNoRegister;
  }

  static Value get(const State& state, const Operand& o) {
    return o.is_number() ? Value::number(static_cast<uint32_t>(o.number)) : get(state, o.reg);
  }

  // A constant in two registers.
  static Value pair(const State& state, int r) {
    Value low = get(state, r), high = get(state, r + 1);
    if (!low.is_constant() || !high.is_constant()) return {};
    return Value::number((low.base & 0xffu) | (high.base & 0xffu) << 8);
  }

  // Where icall and ijmp go.
  Value address_in_z(const State& state) const {
    const Value &low = get(state, 30), &high = get(state, 31);
    // Both bytes of words of a table.
    if (low.kind == Value::Kind::kTable && high.kind == low.kind && high.base == low.base + 1 &&
        high.count == low.count) {
      Value to = low;
      to.width = 2;
      to.shift = 1;
      return to;
    }
    Value to = pair(state, 30);
    if (to.is_constant()) to.base *= 2;
    return to;
  }

  // jmp, call, lds and sts have two words.
  uint32_t skipped_bytes(uint32_t at) const {
    const uint32_t word = elf_.constant(at, 2).value_or(0);
    const bool jumps = (word & 0xfe0cu) == 0x940cu, loads = (word & 0xfc0fu) == 0x9000u;
    return jumps || loads ? 4 : 2;
  }

  static Value port(const Operand& number, const State& state) {
    Value out;
    const bool low = number == kSpl;
    if (!state.sp_known || (!low && number != kSph)) return out;
    out = Value::stack(state.sp);
    out.kind = low ? Value::Kind::kStackLow : Value::Kind::kStackHigh;
    return out;
  }

  // Values are known only of what is pushed.
  static void access(const Instruction& i, State& state) {
    if (i.memory.base == kAvrSp && i.op == Op::kStore && !i.reads.empty())
      state.store(state.sp, get(state, i.reads[0]));
    if (i.memory.base == kAvrSp) state.sp += static_cast<int32_t>(i.memory.offset);
    else if (i.op == Op::kStore) state.forget_variables();
    if (i.memory.base != kAvrSp && i.memory.update != Memory::Update::kNone)
      for (int r : {i.memory.base, i.memory.base + 1}) set(state, r, {});
    for (int r : i.writes) set(state, r, i.memory.base == kAvrSp && state.sp_known ? state.load(state.sp) : Value{});
  }

  static void written(const Value& value, bool low, State& state, Step& out) {
    (low ? state.stack_low : state.stack_high) = value;
    if (!value.known()) {
      state.sp_known = false;
      out.problem = "an instruction sets the stack pointer to an unknown value";
      return;
    }
    const Value &l = state.stack_low, &h = state.stack_high;
    if (l.kind == Value::Kind::kStackLow && h.kind == Value::Kind::kStackHigh && l.offset == h.offset) {
      state.sp = l.offset;
      state.sp_known = true;
    } else if (l.is_constant() && h.is_constant()) {
      out.stack_switched = true;
    } else {
      return;  // one half: the other follows
    }
    state.stack_low = state.stack_high = {};
  }

  static void arithmetic(const Instruction& i, State& state) {
    if (i.sets_flags) state.compared = kNoRegister;
    if (i.writes.empty()) return;
    const int r = i.writes[0];
    if (i.op == Op::kOther || i.reads.empty()) {
      for (int each : i.writes) set(state, each, {});
      return;
    }
    if (i.op == Op::kMove && i.writes.size() == 2) {
      const Value low = get(state, i.reads[0]), high = get(state, i.reads[0].reg + 1);
      set(state, r, low);
      return set(state, r + 1, high);
    }
    if (i.writes.size() == 2) return add_to_pair(i, state, r);
    const Value before = get(state, r);
    set(state, r, result(i, state));
    if (r > 0) pair_result(i, state, r, before);
    if (r == state.compared + 1) state.compared = kNoRegister;
    if (i.op == Op::kSubtractCarry || i.op == Op::kAddCarry) added(state, r - 1);
  }

  // cpi r24, 9 and cpc r25, r1: the pair with a number.
  static void compare(const Instruction& i, State& state) {
    if (i.reads.size() < 2) return;
    const int r = i.reads[0].reg;
    const Value with = byte(get(state, i.reads[1]));
    if (i.op == Op::kCompareCarry) {
      state.compared_pair = state.compared >= 0 && r == state.compared + 1 && with == Value::number(0);
      if (!state.compared_pair) state.compared = kNoRegister;
      return;
    }
    state.compared = with.is_constant() ? r : kNoRegister;
    state.compared_with = with.base;
    state.compared_pair = false;
  }

  static Value byte(const Value& value) { return value.is_constant() ? Value::number(value.base & 0xffu) : value; }

  void load_program(const Instruction& i, State& state) const {
    Value low = get(state, 30), high = get(state, 31), value;
    const bool moves = i.memory.update != Memory::Update::kNone;
    if (low.kind == Value::Kind::kPairLow && high.kind == Value::Kind::kPairHigh && low.base == high.base) {
      Value at = low;
      at.kind = Value::Kind::kNumber;
      value = loaded(elf_, at, 1, false);
      low.base += moves ? 1 : 0;
      high.base += moves ? 1 : 0;
    } else if (moves) {
      low = high = {};
    }
    set(state, 30, low);
    set(state, 31, high);
    for (int r : i.writes) set(state, r, value);
  }

  // A pair of an index and a constant, and twice that.
  static void pair_result(const Instruction& i, State& state, int r, const Value& before) {
    Value low = get(state, r - 1);
    if (i.op == Op::kSubtractCarry && i.reads[1].is_number() && before.is_constant() &&
        low.kind == Value::Kind::kPairLow && low.add == 1) {
      const uint32_t number = static_cast<uint32_t>(i.reads[1].number) & 0xffu;
      low.base = (low.base + (before.base << 8) - (number << 8)) & 0xffffu;
    } else if (i.op == Op::kAddCarry && low.kind == Value::Kind::kPairLow && low.add == 2 &&
               before.kind == Value::Kind::kPairHigh) {
      low.base *= 2;
      low.stride *= 2;
    } else {
      return;
    }
    low.add = 0;
    Value high = low;
    high.kind = Value::Kind::kPairHigh;
    set(state, r - 1, low);
    set(state, r, high);
  }

  // Once both halves have got their part of a constant, they are the halves of another place.
  static void added(State& state, int r) {
    Value low = get(state, r), high = get(state, r + 1);
    if (low.kind != Value::Kind::kStackLow || high.kind != Value::Kind::kStackHigh || low.offset != high.offset) return;
    low.offset = high.offset =
        low.offset + static_cast<int16_t>((low.add | high.add << 8) - (low.base | high.base << 8));
    low.base = high.base = low.add = high.add = 0;
    set(state, r, low);
    set(state, r + 1, high);
  }

  // adiw, sbiw.
  static void add_to_pair(const Instruction& i, State& state, int r) {
    Value low = get(state, r), high = get(state, r + 1);
    const auto n = static_cast<int32_t>(i.reads[1].number) * (i.op == Op::kAdd ? 1 : -1);
    if (low.kind == Value::Kind::kStackLow && high.kind == Value::Kind::kStackHigh && low.offset == high.offset &&
        low.base == 0 && high.base == 0 && low.add == 0 && high.add == 0) {
      low.offset += n;
      high.offset += n;
    } else if (pair(state, r).is_constant()) {
      const uint32_t sum = pair(state, r).base + static_cast<uint32_t>(n);
      low = Value::number(sum & 0xffu);
      high = Value::number((sum >> 8) & 0xffu);
    } else {
      low = high = {};
    }
    set(state, r, low);
    set(state, r + 1, high);
  }

  static Value result(const Instruction& i, const State& state) {
    Value mine = get(state, i.reads[0]);
    const Value other = byte(get(state, i.reads.back()));
    const bool same = i.reads[0] == i.reads.back();
    if (i.op == Op::kMove) return other;
    if (i.op == Op::kAnd) return same ? mine : Value{};
    // Both halves of the stack pointer less a constant; the borrow is that of the pair.
    const bool low = mine.kind == Value::Kind::kStackLow, high = mine.kind == Value::Kind::kStackHigh;
    if ((low || high) && other.is_constant() && mine.base == 0 && mine.add == 0) {
      if (i.op == (low ? Op::kSubtract : Op::kSubtractCarry)) return mine.base = other.base, mine;
      if (i.op == (low ? Op::kAdd : Op::kAddCarry)) return mine.add = other.base, mine;
    }
    // The first half of what pair_result does.
    if (i.op == Op::kSubtract && mine.is_number() && other.is_constant() && i.reads[1].is_number()) {
      if (mine.is_constant()) return Value::number((mine.base - other.base) & 0xffu);
      mine.kind = Value::Kind::kPairLow;
      mine.base = (mine.base - other.base) & 0xffffu;
      return mine.add = 1, mine;
    }
    if (i.op == Op::kAdd && same && mine.kind == Value::Kind::kPairLow && mine.add == 0) return mine.add = 2, mine;
    return {};
  }

  const Elf& elf_;
};

}  // namespace

std::unique_ptr<Semantics> avr_semantics(const Elf& elf) { return std::make_unique<Avr>(elf); }

}  // namespace aotc::machine
