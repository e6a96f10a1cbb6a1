// SPDX-License-Identifier: Apache-2.0
// The effect of instructions of cores with 32-bit registers, Thumb and RISC-V, on the stack pointer, the flow of
// control and the addresses of computed jumps. Other results make their registers unknown.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "machine/instruction.h"
#include "machine/value.h"

namespace aotc::machine {

namespace {

class Words : public Semantics {
 public:
  Words(const Elf& elf, int sp, int link, std::vector<int> arguments, std::vector<int> changed_by_calls,
        VectorLength vectors = {})
      : elf_(elf),
        thumb_(elf.isa() == Isa::kThumb),
        sp_(sp),
        link_(link),
        arguments_(std::move(arguments)),
        changed_by_calls_(std::move(changed_by_calls)),
        vectors_(vectors) {}

  State at_entry() const override {
    State state;
    state.registers[static_cast<size_t>(link_)].kind = Value::Kind::kReturn;
    return state;
  }

  std::vector<int> arguments() const override { return arguments_; }

  void after_call(State& state) const override {
    for (int r : changed_by_calls_) set(state, r, {});
    state.compared = kNoRegister;
    if (state.escaped) state.forget_variables();
  }

  Step step(const Instruction& i, State& state) const override {
    Step out;
    // LUI and AUIPC have put the high part of an address into sp; the next instruction adds the low part.
    const Value half = std::exchange(state.registers[static_cast<size_t>(sp_)], Value{});
    if (half.known() && i.op == Op::kAdd && i.writes[0] == sp_ && i.reads[1].is_number()) {
      out.stack_switched = true;
      return out;
    }
    if (i.sets_flags && i.op != Op::kCompare) state.compared = kNoRegister;
    switch (i.op) {
      case Op::kLoad:
      case Op::kStore: access(i, state, out); break;
      case Op::kJump:
      case Op::kCall: leave(i, state, out); break;
      case Op::kBranch: branch(i, state, out); break;
      case Op::kTable: table(i, state, out); break;
      case Op::kCompare: compare(i, state); break;
      case Op::kCoprocessor:
        for (const Operand& o : i.reads)
          if (get(state, o).is_stack()) {
            state.escaped = true;
            set(state, o.reg, {});
          }
        for (Value& r : state.registers)
          if (!r.is_stack() && r.kind != Value::Kind::kReturn) r = {};
        state.compared = kNoRegister;
        state.forget_variables();
        break;
      case Op::kVectorBytes:
        for (int r : i.writes) assign(i, state, r, Value::number(vectors_.bits / 8), out);
        if (!vectors_.given)
          out.length_assumption = fmt::format(
              "the function saves vector registers: {} bits are assumed; state the length with --vector-bits",
              vectors_.bits);
        break;
      case Op::kReturn: out.flow = Flow::kReturn; break;
      case Op::kStop: out.flow = Flow::kStop; break;
      case Op::kSupervisorCall:
        out.assumption =
            fmt::format("the handler of {} is not counted: add it with --interrupts", thumb_ ? "svc" : "ecall");
        break;
      case Op::kSetStack:
        out.problem = "an instruction sets the main stack pointer";
        state.sp_known = false;
        break;
      default: {
        const Value value = result(i, state);
        if (!value.known())
          for (const Operand& o : i.reads) state.escaped = state.escaped || get(state, o).is_stack();
        for (int r : i.writes) assign(i, state, r, r == i.writes[0] ? value : Value{}, out);
      }
    }
    return out;
  }

 private:
  using Flow = Step::Flow;

  Value get(const State& state, int r) const {
    if (r == sp_) return state.sp_known ? Value::stack(state.sp) : Value{};
    if (r == 0 && !thumb_) return Value::number(0);
    return r >= 0 && r < 32 ? state.registers[static_cast<size_t>(r)] : Value{};
  }

  Value get(const State& state, const Operand& o) const {
    return o.is_number() ? Value::number(static_cast<uint32_t>(o.number)) : get(state, o.reg);
  }

  void set(State& state, int r, const Value& value) const {
    if (r >= 0 && r < 32 && r != sp_) state.registers[static_cast<size_t>(r)] = value;
    if (r == state.compared) state.compared = kNoRegister;
  }

  void assign(const Instruction& i, State& state, int r, const Value& value, Step& out) const {
    if (r == kPc) return jump(value, out);
    if (r != sp_) return set(state, r, value);
    if (state.set_stack(value)) return;
    if (value.is_constant()) {
      if (i.op == Op::kMoveHigh) state.registers[static_cast<size_t>(sp_)] = value;
      out.stack_switched = true;
    } else {
      state.sp_known = false;
      state.escaped = true;
      out.problem = "an instruction sets the stack pointer to an unknown value";
    }
  }

  void jump(const Value& to, Step& out) const {
    out.flow = to.kind == Value::Kind::kReturn ? Flow::kReturn : Flow::kJump;
    out.target = to;
    // The lowest bit says that the code is Thumb's.
    if (thumb_ && to.is_constant()) out.target.base &= ~1u;
  }

  void leave(const Instruction& i, State& state, Step& out) const {
    if (i.reads.empty()) return;
    Value to = get(state, i.reads[0]);
    if (i.reads.size() > 1) to = plus(to, get(state, i.reads[1]));
    jump(to, out);
    out.by_register = i.reads[0].is_register();
    if (i.op == Op::kCall && is_case_helper(out.target)) return case_helper(i, state, out);
    if (i.op == Op::kCall) {
      for (int r : arguments_) state.escaped = state.escaped || get(state, r).is_stack();
      out.flow = Flow::kCall;
      out.inside = thumb_ && is_inside(i, out.target);
    }
    if (out.inside) set(state, link_, Value::number(i.next()));
    if (i.op == Op::kJump)
      for (int r : i.writes) set(state, r, Value::number(i.next()));
  }

  // True for libgcc's helpers of v6-M, whose table is behind the call.
  bool is_case_helper(const Value& to) const {
    const Symbol* s = to.is_constant() ? elf_.function_at(to.base) : nullptr;
    return s != nullptr && s->name.starts_with("__gnu_thumb1_case_");
  }

  void case_helper(const Instruction& i, const State& state, Step& out) const {
    const std::string kind = elf_.function_at(out.target.base)->name.substr(18);
    out.flow = Flow::kJump;
    const int width = kind == "si" ? 4 : kind.ends_with("qi") ? 1 : 2;
    const bool is_signed = kind[0] == 's' && kind != "si";
    const uint32_t begin = width == 4 ? (i.next() + 2) & ~3u : i.next();
    Value at = plus(shifted_left(get(state, 0), width == 1 ? 0 : width == 2 ? 1 : 2), Value::number(begin));
    Value distance = loaded(elf_, at, width, is_signed);
    out.target =
        width == 4 ? plus(distance, Value::number(begin)) : plus(shifted_left(distance, 1), Value::number(i.next()));
  }

  bool is_inside(const Instruction& i, const Value& to) const {
    const Symbol* here = elf_.function_around(i.address);
    return to.is_constant() && here != nullptr && here->size != 0 && to.base > here->address &&
           to.base - here->address < here->size && elf_.function_at(to.base) == nullptr;
  }

  void branch(const Instruction& i, State& state, Step& out) const {
    out.flow = Flow::kBranch;
    if (!i.reads.empty()) out.target = get(state, i.reads.back());
    for (int r : i.writes) set(state, r, {});
    Condition condition = i.condition;
    out.taken = decided(i, state);
    if (thumb_ || i.reads.size() < 3) {
      if (state.compared != kNoRegister) bound(condition, state.compared, state.compared_with, out);
      return;
    }
    if (!orders(condition)) return;
    const Value left = get(state, i.reads[0]), right = get(state, i.reads[1]);
    if (right.is_constant() && !left.is_constant() && right.base > 0) {
      bound(condition, i.reads[0].reg, right.base, out);
    } else if (left.is_constant() && !right.is_constant()) {
      condition = condition == Condition::kBelow      ? Condition::kAbove
                  : condition == Condition::kNotBelow ? Condition::kNotAbove
                  : condition == Condition::kAbove    ? Condition::kBelow
                                                      : Condition::kNotBelow;
      bound(condition, i.reads[1].reg, left.base, out);
    }
  }

  static bool orders(Condition condition) {
    return condition != Condition::kOther && condition != Condition::kEqual && condition != Condition::kNotEqual;
  }

  // Whether the branch is taken, if both numbers that it depends on are known.
  std::optional<bool> decided(const Instruction& i, const State& state) const {
    const bool flags = thumb_ && state.compared != kNoRegister;
    if (!flags && (thumb_ || i.reads.size() < 3)) return std::nullopt;
    const Value left = flags ? get(state, state.compared) : get(state, i.reads[0]);
    const Value right = flags ? Value::number(state.compared_with) : get(state, i.reads[1]);
    if (!left.is_constant() || !right.is_constant()) return std::nullopt;
    switch (i.condition) {
      case Condition::kOther: return std::nullopt;
      case Condition::kEqual: return left.base == right.base;
      case Condition::kNotEqual: return left.base != right.base;
      case Condition::kBelow: return left.base < right.base;
      case Condition::kNotBelow: return left.base >= right.base;
      case Condition::kAbove: return left.base > right.base;
      case Condition::kNotAbove: return left.base <= right.base;
    }
    return std::nullopt;
  }

  // Sets the bound of a register that a branch compares with a number.
  static void bound(Condition condition, int reg, uint32_t number, Step& out) {
    const bool strict = condition == Condition::kBelow || condition == Condition::kNotBelow;
    if (!orders(condition) || (strict && number == 0)) return;
    out.bounded = reg;
    out.not_above = number - (strict ? 1 : 0);
    out.bounded_if_taken = condition == Condition::kBelow || condition == Condition::kNotAbove;
  }

  // tbb [pc, r0]: the bytes behind the instruction are half the distances.
  void table(const Instruction& i, const State& state, Step& out) const {
    out.flow = Flow::kJump;
    if (i.memory.base != kNoRegister) return;
    const Value next = Value::number(i.next());
    const Value at = plus(shifted_left(get(state, i.memory.index), i.memory.shift), next);
    out.target = plus(shifted_left(loaded(elf_, at, 1 << i.memory.shift, false), 1), next);
  }

  void compare(const Instruction& i, State& state) const {
    const Value with = i.reads.size() < 2 ? Value{} : shifted_left(get(state, i.reads[1]), i.shift);
    state.compared = with.is_constant() ? i.reads[0].reg : kNoRegister;
    state.compared_with = with.base;
  }

  // Loads or stores registers at consecutive addresses.
  void access(const Instruction& i, State& state, Step& out) const {
    const Memory& m = i.memory;
    const Value base = m.base == kNoRegister ? Value::number(0) : get(state, m.base);
    const Value moved = m.index != kNoRegister ? plus(base, shifted_left(get(state, m.index), m.shift))
                                               : plus(base, Value::number(static_cast<uint32_t>(m.offset)));
    const Value address = m.update == Memory::Update::kAfter ? base : moved;
    const size_t count = i.op == Op::kLoad ? i.writes.size() : i.reads.size();
    const bool words = count > 0 && m.bytes == 4 * static_cast<int32_t>(count);
    std::vector<Value> values;
    for (size_t n = 0; n < count; ++n)
      if (i.op == Op::kStore) {
        values.push_back(words ? get(state, i.reads[n]) : Value{});
        state.escaped = state.escaped || get(state, i.reads[n]).is_stack();
      } else if (count == 1 && !address.is_stack()) values.push_back(loaded(elf_, address, m.bytes, m.is_signed));
      else if (!words) values.emplace_back();
      else if (const auto at = static_cast<uint32_t>(4 * n); address.is_stack())
        values.push_back(state.load(int64_t{address.offset} + at));
      else values.push_back(loaded(elf_, plus(address, Value::number(at)), 4, false));
    if (m.update != Memory::Update::kNone && m.base == sp_) state.sp += static_cast<int32_t>(m.offset);
    else if (m.update != Memory::Update::kNone) set(state, m.base, moved);
    if (i.op == Op::kStore && !address.is_stack() && !address.is_constant()) {
      const bool of_stack = base.is_stack() || (m.index != kNoRegister && get(state, m.index).is_stack());
      if (of_stack || state.escaped) state.forget_variables();
    }
    if (i.op == Op::kStore && address.is_stack())
      for (int32_t n = 0; n < std::max(1, m.bytes / 4); ++n)
        state.store(int64_t{address.offset} + 4 * n, words ? values[static_cast<size_t>(n)] : Value{});
    for (size_t n = 0; n < i.writes.size(); ++n)
      assign(i, state, i.writes[n], i.op == Op::kLoad ? values[n] : Value{}, out);
    out.by_register = i.kind == Kind::kLoad;
  }

  Value result(const Instruction& i, const State& state) const {
    if (i.reads.empty()) return {};
    const Value left = get(state, i.reads[0]), right = shifted_left(get(state, i.reads.back()), i.shift);
    const bool number = right.is_constant();
    switch (i.op) {
      case Op::kMove:
      case Op::kMoveHigh: return left;
      case Op::kMoveTop: return left.is_constant() ? Value::number((left.base & 0xffffu) | right.base << 16) : Value{};
      case Op::kNot: return number ? Value::number(~right.base) : Value{};
      case Op::kLowByte: return masked(left, 0xffu);
      case Op::kLowHalf: return masked(left, 0xffffu);
      case Op::kExtract: return right.base < 12 ? Value::up_to((1u << right.base) - 1) : Value{};
      case Op::kMultiply: return left.is_constant() && number ? Value::number(left.base * right.base) : Value{};
      case Op::kAdd: return plus(left, right);
      case Op::kSubtract: return minus(left, right);
      case Op::kShiftLeft: return number ? shifted_left(left, right.base) : Value{};
      case Op::kAnd: return number ? masked(left, right.base) : Value{};
      case Op::kAndNot: return number ? masked(left, ~right.base) : Value{};
      default: return {};
    }
  }

  const Elf& elf_;
  bool thumb_;
  int sp_, link_;
  std::vector<int> arguments_, changed_by_calls_;
  VectorLength vectors_;
};

}  // namespace

std::unique_ptr<Semantics> thumb_semantics(const Elf& elf) {
  return std::make_unique<Words>(elf, 13, 14, std::vector{0, 1, 2, 3}, std::vector{0, 1, 2, 3, 12, 14});
}

std::unique_ptr<Semantics> riscv_semantics(const Elf& elf, VectorLength vectors) {
  return std::make_unique<Words>(elf, 2, 1, std::vector{10, 11, 12, 13, 14, 15, 16, 17},
                                 std::vector{1, 5, 6, 7, 10, 11, 12, 13, 14, 15, 16, 17, 28, 29, 30, 31}, vectors);
}

}  // namespace aotc::machine
