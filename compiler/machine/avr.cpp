// SPDX-License-Identifier: Apache-2.0
// The same for AVR: the stack pointer is two registers of input and output, frames are set up in r28 and r29,
// and addresses of code count words.
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "machine/instruction.h"
#include "machine/value.h"

namespace aotc::machine {

namespace {

constexpr uint32_t kSpl = 0x3d, kSph = 0x3e;
constexpr int kNotARegister = -1;

int avr_register(std::string_view name) {
  if (name == "x" || name == "X") return 26;
  if (name == "y" || name == "Y") return 28;
  if (name == "z" || name == "Z") return 30;
  if (name.size() < 2 || name.size() > 3 || name[0] != 'r') return kNotARegister;
  auto number = number_in(std::string(name.substr(1)));
  return number && *number >= 0 && *number < 32 ? static_cast<int>(*number) : kNotARegister;
}

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

  void after_call(State& state) const override {
    for (int r : {0, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 30, 31}) set(state, r, {});
    state.compared = kNotARegister;
    state.forget_variables();
  }

  Step step(const Instruction& i, State& state) const override {
    Step out;
    if (!flow(i, state, out) && !stack(i, state, out)) arithmetic(i, state);
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
    if (r == state.compared) state.compared = kNotARegister;
  }

  // A constant in two registers.
  static Value pair(const State& state, int r) {
    Value low = get(state, r), high = get(state, r + 1);
    if (!low.is_constant() || !high.is_constant()) return {};
    return Value::number((low.base & 0xffu) | (high.base & 0xffu) << 8);
  }

  // binutils prints ".+12" and the address behind it as a comment; parse_instruction keeps what is in front.
  static Value address_in(const Instruction& i) {
    const std::string text = operand(i, i.operands.empty() ? 0 : i.operands.size() - 1);
    const bool relative = text.starts_with(".");
    auto to = number_in(relative ? text.substr(1) : text);
    if (!to) return {};
    return Value::number(static_cast<uint32_t>(*to) + (relative ? i.next() : 0));
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

  bool flow(const Instruction& i, State& state, Step& out) const {
    const std::string& m = i.mnemonic;
    if (m == "ret" || m == "reti") {
      out.flow = Flow::kReturn;
      return true;
    }
    if (m == "call" || m == "rcall") {
      out.target = address_in(i);
      // "rcall .+0" takes two bytes of stack.
      if (out.target.is_constant() && out.target.base == i.next())
        state.sp -= static_cast<int32_t>(elf_.return_bytes());
      else out.flow = Flow::kCall;
      return true;
    }
    if (m == "icall" || m == "eicall" || m == "ijmp" || m == "eijmp") {
      out.flow = m.ends_with("call") ? Flow::kCall : Flow::kJump;
      out.target = m[0] == 'e' ? Value{} : address_in_z(state);
      out.by_register = true;
      return true;
    }
    if (m == "jmp" || m == "rjmp") {
      out.flow = Flow::kJump;
      out.target = address_in(i);
      return true;
    }
    if (m == "cpse" || m == "sbrc" || m == "sbrs" || m == "sbic" || m == "sbis") {
      out.flow = Flow::kBranch;
      out.target = Value::number(i.next() + skipped_bytes(i.next()));
      return true;
    }
    if (m.size() == 4 && m.starts_with("br") && m != "brea") {
      out.flow = Flow::kBranch;
      out.target = address_in(i);
      // After cpi and cpc with zero: carry says that the pair is below.
      const bool below = m == "brcs" || m == "brlo", above = m == "brcc" || m == "brsh";
      if (state.compared >= 0 && state.compared_with > 0 && (below || above)) {
        out.bounded = state.compared;
        out.not_above = state.compared_with - 1;
        out.bounded_if_taken = below;
        out.bounds_pair = state.compared_pair;
      }
      return true;
    }
    if (m.starts_with(".") || m == "break" || m.starts_with("<")) {
      out.flow = Flow::kStop;
      out.undecoded = m != "break";
      return true;
    }
    return false;
  }

  // jmp, call, lds and sts have two words.
  uint32_t skipped_bytes(uint32_t at) const {
    const uint32_t word = elf_.constant(at, 2).value_or(0);
    const bool jumps = (word & 0xfe0cu) == 0x940cu, loads = (word & 0xfc0fu) == 0x9000u;
    return jumps || loads ? 4 : 2;
  }

  bool stack(const Instruction& i, State& state, Step& out) const {
    const std::string& m = i.mnemonic;
    if (m == "push") {
      state.store(state.sp, get(state, avr_register(operand(i, 0))));
      state.sp -= 1;
      return true;
    }
    if (m == "pop") {
      state.sp += 1;
      set(state, avr_register(operand(i, 0)), state.sp_known ? state.load(state.sp) : Value{});
      return true;
    }
    if (m == "in") {
      auto port = number_in(operand(i, 1));
      Value value;
      if (port && state.sp_known && (*port == kSpl || *port == kSph)) {
        value = Value::stack(state.sp);
        value.kind = *port == kSpl ? Value::Kind::kStackLow : Value::Kind::kStackHigh;
      }
      set(state, avr_register(operand(i, 0)), value);
      return true;
    }
    if (m != "out") return false;
    auto port = number_in(operand(i, 0));
    if (port && (*port == kSpl || *port == kSph))
      written(get(state, avr_register(operand(i, 1))), *port == kSpl, state, out);
    return true;
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

  void arithmetic(const Instruction& i, State& state) const {
    static const std::set<std::string_view> kNoResult = {"cp",  "cpc", "cpi", "tst", "nop", "cli", "sei",
                                                         "st",  "std", "sts", "sbi", "cbi", "wdr", "sleep",
                                                         "bst", "sec", "clc", "clt", "set", "spm"};
    const std::string& m = i.mnemonic;
    int r = avr_register(operand(i, 0));
    if (m == "cpi" || m == "cp" || m == "cpc") return compare(i, state, r);
    if (m == "lpm" && i.operands.size() == 2) return load_program(i, state, r);
    if (m.starts_with("st")) state.forget_variables();
    // All but moves change the flags.
    static const std::set<std::string_view> kMoves = {"ldi", "mov", "movw", "lds", "ld", "ldd",
                                                      "lpm", "nop", "st",   "std", "sts"};
    if (!kMoves.contains(m)) state.compared = kNotARegister;
    if (m.starts_with("st")) return moved_pointer(state, operand(i, 0));
    if (kNoResult.contains(m) || r == kNotARegister) {
      if (m == "lpm" || m == "elpm") set(state, 0, {});
      return;
    }
    if (m == "movw") {
      int from = avr_register(operand(i, 1));
      Value low = get(state, from), high = get(state, from + 1);
      set(state, r, low);
      return set(state, r + 1, high);
    }
    if (m == "adiw" || m == "sbiw") return add_to_pair(i, state, r, m == "adiw");
    if (m == "mul" || m == "muls" || m == "mulsu" || m.starts_with("fmul")) {
      set(state, 0, {});
      return set(state, 1, {});
    }
    moved_pointer(state, operand(i, 1));
    const Value before = get(state, r);
    set(state, r, result(i, state, r));
    if (r > 0) pair_result(i, state, r, before);
    if (r == state.compared || r == state.compared + 1) state.compared = kNotARegister;
    if (m == "sbci" || m == "sbc" || m == "adc") added(state, r - 1);
  }

  // cpi r24, 9 and cpc r25, r1: the pair with a number.
  static void compare(const Instruction& i, State& state, int r) {
    Value with = get(state, avr_register(operand(i, 1)));
    if (auto number = number_in(operand(i, 1))) with = Value::number(static_cast<uint32_t>(*number) & 0xffu);
    if (i.mnemonic == "cpc") {
      state.compared_pair = state.compared >= 0 && r == state.compared + 1 && with == Value::number(0);
      if (!state.compared_pair) state.compared = kNotARegister;
      return;
    }
    state.compared = with.is_constant() ? r : kNotARegister;
    state.compared_with = with.base;
    state.compared_pair = false;
  }

  void load_program(const Instruction& i, State& state, int r) const {
    Value low = get(state, 30), high = get(state, 31), value;
    if (low.kind == Value::Kind::kPairLow && high.kind == Value::Kind::kPairHigh && low.base == high.base) {
      Value at = low;
      at.kind = Value::Kind::kNumber;
      value = loaded(elf_, at, 1, false);
      if (operand(i, 1) == "Z+") {
        ++low.base;
        ++high.base;
      }
    } else if (operand(i, 1) == "Z+") {
      low = high = {};
    }
    set(state, 30, low);
    set(state, 31, high);
    set(state, r, value);
  }

  // A pair of an index and a constant, and twice that.
  static void pair_result(const Instruction& i, State& state, int r, const Value& before) {
    const std::string& m = i.mnemonic;
    Value low = get(state, r - 1);
    if (m == "sbci" && before.is_constant() && low.kind == Value::Kind::kPairLow && low.add == 1) {
      const auto number = static_cast<uint32_t>(number_in(operand(i, 1)).value_or(0)) & 0xffu;
      low.base = (low.base + (before.base << 8) - (number << 8)) & 0xffffu;
    } else if ((m == "adc" || m == "rol") && low.kind == Value::Kind::kPairLow && low.add == 2 &&
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

  // "ld r24, Z+": the pointer is another one behind it.
  static void moved_pointer(State& state, std::string text) {
    bool moves = text.ends_with("+") || text.starts_with("-");
    if (!moves || text.size() != 2) return;
    text.erase(text.ends_with("+") ? 1 : 0, 1);
    int r = avr_register(text);
    set(state, r, {});
    set(state, r + 1, {});
  }

  static void add_to_pair(const Instruction& i, State& state, int r, bool plus_sign) {
    auto number = number_in(operand(i, 1));
    Value low = get(state, r), high = get(state, r + 1);
    const auto n = static_cast<int32_t>(number.value_or(0)) * (plus_sign ? 1 : -1);
    if (number && low.kind == Value::Kind::kStackLow && high.kind == Value::Kind::kStackHigh &&
        low.offset == high.offset && low.base == 0 && high.base == 0 && low.add == 0 && high.add == 0) {
      low.offset += n;
      high.offset += n;
    } else if (number && pair(state, r).is_constant()) {
      const uint32_t sum = pair(state, r).base + static_cast<uint32_t>(n);
      low = Value::number(sum & 0xffu);
      high = Value::number((sum >> 8) & 0xffu);
    } else {
      low = high = {};
    }
    set(state, r, low);
    set(state, r + 1, high);
  }

  static Value result(const Instruction& i, const State& state, int r) {
    const std::string& m = i.mnemonic;
    Value mine = get(state, r), other = get(state, avr_register(operand(i, 1)));
    if (auto number = number_in(operand(i, 1))) other = Value::number(static_cast<uint32_t>(*number) & 0xffu);
    if (m == "ldi" || m == "mov") return other;
    if (m == "clr" || (m == "eor" && operand(i, 0) == operand(i, 1))) return Value::number(0);
    // Both halves of the stack pointer less a constant; the borrow is that of the pair.
    const bool low = mine.kind == Value::Kind::kStackLow, high = mine.kind == Value::Kind::kStackHigh;
    if ((low || high) && other.is_constant() && mine.base == 0 && mine.add == 0) {
      if (m == (low ? "subi" : "sbci") || m == (low ? "sub" : "sbc")) return mine.base = other.base & 0xffu, mine;
      if (m == (low ? "add" : "adc")) return mine.add = other.base & 0xffu, mine;
    }
    // The first half of what pair_result does.
    if (m == "subi" && mine.is_number() && !mine.is_constant() && other.is_constant()) {
      mine.kind = Value::Kind::kPairLow;
      mine.base = (mine.base - other.base) & 0xffffu;
      return mine.add = 1, mine;
    }
    const bool twice = (m == "add" && operand(i, 0) == operand(i, 1)) || m == "lsl";
    if (twice && mine.kind == Value::Kind::kPairLow && mine.add == 0) return mine.add = 2, mine;
    if (m == "subi" && mine.is_constant() && other.is_constant())
      return Value::number((mine.base - other.base) & 0xffu);
    return {};
  }

  const Elf& elf_;
};

}  // namespace

std::unique_ptr<Semantics> avr_semantics(const Elf& elf) { return std::make_unique<Avr>(elf); }

}  // namespace aotc::machine
