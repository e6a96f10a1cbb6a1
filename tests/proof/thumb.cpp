// SPDX-License-Identifier: Apache-2.0
// Thumb-2 instructions with the DSP extension. The effects follow the Arm Architecture Reference Manual.
#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "machine.h"

namespace aotc::tests::proof {

namespace {

constexpr int kSp = 13, kLr = 14, kPc = 15, kRegisters = 16, kFloats = 32;

using Kind = Operand::Kind;

// ---------------------------------------------------------------- reading

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

// At the commas that are in no brackets.
std::vector<std::string_view> split(std::string_view s) {
  std::vector<std::string_view> out;
  int depth = 0;
  size_t from = 0;
  for (size_t i = 0; i <= s.size(); ++i) {
    if (i < s.size() && (s[i] == '[' || s[i] == '{')) ++depth;
    if (i < s.size() && (s[i] == ']' || s[i] == '}')) --depth;
    if (i < s.size() && (s[i] != ',' || depth > 0)) continue;
    if (const auto part = trimmed(s.substr(from, i - from)); !part.empty()) out.push_back(part);
    from = i + 1;
  }
  return out;
}

int64_t number_of(std::string_view s) {
  if (!s.starts_with('#')) throw Failure(fmt::format("operand '{}'", s));
  try {
    return std::stoll(std::string(s.substr(1)), nullptr, 0);
  } catch (const std::exception&) {
    throw Failure(fmt::format("operand '{}'", s));
  }
}

std::optional<int> register_of(std::string_view s) {
  if (s == "sp") return kSp;
  if (s == "lr") return kLr;
  if (s == "pc") return kPc;
  if (s.size() < 2 || s.size() > 3 || s[0] != 'r') return std::nullopt;
  int out = 0;
  for (char c : s.substr(1)) {
    if (c < '0' || c > '9') return std::nullopt;
    out = 10 * out + (c - '0');
  }
  return out;
}

std::optional<int> float_of(std::string_view s) {
  if (s.size() < 2 || s[0] != 's' || s[1] < '0' || s[1] > '9') return std::nullopt;
  return std::stoi(std::string(s.substr(1)));
}

std::optional<Operand> shift_of(std::string_view s) {
  static const std::pair<std::string_view, Operand::Shift> kKinds[] = {{"lsl ", Operand::Shift::kLeft},
                                                                       {"lsr ", Operand::Shift::kRightUnsigned},
                                                                       {"asr ", Operand::Shift::kRight},
                                                                       {"ror ", Operand::Shift::kRotate}};
  for (const auto& [name, kind] : kKinds)
    if (s.starts_with(name)) {
      Operand out;
      out.kind = Kind::kShift, out.shift = kind, out.number = number_of(trimmed(s.substr(name.size())));
      return out;
    }
  return std::nullopt;
}

Operand operand_of(std::string_view s) {
  Operand out;
  if (s.ends_with('!')) {
    out.written = true;
    s = trimmed(s.substr(0, s.size() - 1));
  }
  if (s.starts_with('{')) {
    out.kind = Kind::kList;
    for (std::string_view part : split(s.substr(1, s.size() - 2))) {
      const auto number = register_of(part), single = float_of(part);
      if (!number && !single) throw Failure(fmt::format("operand '{}'", s));
      if (single) out.kind = Kind::kFloatList;
      out.list |= uint32_t{1} << (single ? *single : *number);
    }
    return out;
  }
  if (s.starts_with('[')) {
    out.kind = Kind::kMemory;
    const auto parts = split(s.substr(1, s.size() - 2));
    const auto base = parts.empty() ? std::nullopt : register_of(parts[0]);
    if (!base) throw Failure(fmt::format("operand '{}'", s));
    out.reg = *base;
    if (parts.size() > 1) {
      if (const auto index = register_of(parts[1])) out.index = *index;
      else out.number = number_of(parts[1]);
    }
    if (parts.size() > 2) {
      const auto shift = shift_of(parts[2]);
      if (!shift || shift->shift != Operand::Shift::kLeft) throw Failure(fmt::format("operand '{}'", s));
      out.number = shift->number;
    }
    return out;
  }
  if (const auto number = register_of(s)) {
    out.kind = Kind::kRegister, out.reg = *number;
  } else if (const auto single = float_of(s)) {
    out.kind = Kind::kFloat, out.reg = *single;
  } else if (const auto shift = shift_of(s)) {
    return *shift;
  } else {
    out.number = number_of(s);
  }
  return out;
}

// ---------------------------------------------------------------- running

class Thumb final : public Machine {
 public:
  Thumb(Terms& terms, Memory& memory, const std::vector<Instruction>& text, const Call& call)
      : Machine(terms, memory, text, call) {
    begin(kRegisters, kFloats, 0);
    for (int r = 0; r < kPc; ++r) may_not_change(r, r == kSp ? "sp" : r == kLr ? "lr" : fmt::format("r{}", r));
    for (int s = 0; s < kFloats; ++s) float_may_not_change(s, fmt::format("s{}", s));
  }

  using Function = void (Thumb::*)(const Instruction&);
  static const std::map<std::string, Function, std::less<>>& table();

 private:
  using Of = Flags::Of;

  static const std::vector<Function>& functions() {
    static const std::vector<Function> kFunctions = [] {
      std::vector<Function> out;
      for (const auto& [name, function] : table()) out.push_back(function);
      return out;
    }();
    return kFunctions;
  }

  void execute(const Instruction& i) override { (this->*functions()[i.code])(i); }
  Term condition_of(const Instruction& i) override { return i.condition.empty() ? constant(1) : truth(i.condition); }
  std::optional<int> target_of(const Instruction& i) const override {
    return i.name == "b" ? std::optional(i.at + 4 + static_cast<int>(number(i, 0))) : std::nullopt;
  }
  bool is_conditional(const Instruction& i) const override { return !i.condition.empty(); }
  bool is_computed_jump(const Instruction& i) const override {
    return i.name == "ldr" && i.operands[0].kind == Kind::kRegister && i.operands[0].reg == kPc;
  }
  int stack_pointer() const override { return kSp; }

  // ---- operands
  static int reg(const Instruction& i, size_t k) {
    const int out = Machine::reg(i, k);
    if (out == kPc) throw Failure("no register: " + i.text);
    return out;
  }
  static int single(const Instruction& i, size_t k) {
    const Operand& o = operand(i, k);
    if (o.kind != Kind::kFloat || o.reg >= kFloats) throw Failure("no register: " + i.text);
    return o.reg;
  }
  using Machine::get;
  using Machine::set;
  Term get(const Instruction& i, size_t k) const { return get(reg(i, k)); }
  void set(const Instruction& i, size_t k, Term v) { set(reg(i, k), v); }

  Term shifted(Term v, const Operand& o) {
    const int by = static_cast<int>(o.number);
    if (by < 0 || by > 32) throw Failure("a shift");
    switch (o.shift) {
      case Operand::Shift::kLeft: return t_.shift_left(v, by);
      case Operand::Shift::kRightUnsigned: return t_.shift_right(v, by, false);
      case Operand::Shift::kRight: return t_.shift_right(v, by, true);
      case Operand::Shift::kRotate: return rotated(v, by);
    }
    return v;
  }
  Term rotated(Term v, int by) {
    const Bits from = t_.bits(v);
    Bits to{};
    for (size_t i = 0; i < to.size(); ++i) to[i] = from[(i + static_cast<size_t>(by)) % to.size()];
    return t_.of_bits(to);
  }
  // A register, shifted if a shift follows, or a number.
  Term flexible(const Instruction& i, size_t k) {
    const Operand& o = operand(i, k);
    if (o.kind == Kind::kNumber) return constant(o.number);
    const Term v = get(i, k);
    return k + 1 < i.operands.size() ? shifted(v, operand(i, k + 1)) : v;
  }
  // "add r0, #4" is "add r0, r0, #4".
  static size_t first_source(const Instruction& i) {
    const size_t shifts = !i.operands.empty() && i.operands.back().kind == Kind::kShift ? 1 : 0;
    return i.operands.size() - shifts == 2 ? 0 : 1;
  }
  Term half(Term v, int which) { return t_.slice(v, 16 * which, 16, true); }
  Term joined(Term low, Term high) {
    Bits out = t_.bits(low);
    const Bits from = t_.bits(high);
    std::copy_n(from.begin(), 16, out.begin() + 16);
    return t_.of_bits(out);
  }

  // ---- flags
  void flags_of_result(const Instruction& i, Term v, Term carry = -1) {
    if (!i.sets_flags) return;
    now_.flags.of = Of::kResult, now_.flags.a = v, now_.flags.carry = carry;
  }
  void flags_of_difference(Term a, Term b) {
    now_.flags.of = Of::kDifference, now_.flags.a = a, now_.flags.b = b, now_.flags.carry = -1;
  }
  // Whether words are in this order as unsigned numbers.
  Term less_unsigned(Term a, Term b) {
    const auto x = t_.value_of(a), y = t_.value_of(b);
    if (x && y) return constant(*x < *y ? 1 : 0);
    const Term sign = constant(int64_t{1} << 31);
    return t_.less(t_.bit_operation(Operation::kXor, a, sign), t_.bit_operation(Operation::kXor, b, sign));
  }
  // Carries of differences are those of "no borrow".
  Term carry() {
    const Flags& f = now_.flags;
    if (f.of == Of::kDifference) return t_.opposite(less_unsigned(f.a, f.b));
    if (f.of != Of::kResult || f.carry < 0) throw Failure("a carry that is not known");
    return f.carry;
  }
  Term truth(const std::string& condition) {
    const Flags& f = now_.flags;
    if (f.of == Of::kNothing) throw Failure("flags that nothing sets");
    // These need only some bits of the difference: of addresses of one region it is known, and of a counter beside data
    // in one word the sign is.
    const Term difference = f.of == Of::kResult ? f.a : t_.subtract(f.a, f.b);
    auto of = [&](Term t, bool is) { return decided(is ? t : t_.opposite(t)); };
    if (condition == "eq" || condition == "ne") return of(t_.is_zero(difference), condition == "eq");
    if (condition == "mi" || condition == "pl") return of(t_.slice(difference, 31, 1, false), condition == "mi");
    if (condition == "hs" || condition == "lo") return of(carry(), condition == "hs");
    if (f.of == Of::kResult) throw Failure("an overflow that is not known");
    if (condition == "lt" || condition == "ge") return of(t_.less(f.a, f.b), condition == "lt");
    if (condition == "gt" || condition == "le") return of(t_.less(f.b, f.a), condition == "gt");
    if (condition == "hi" || condition == "ls") return of(less_unsigned(f.b, f.a), condition == "hi");
    throw Failure("condition " + condition);
  }

  // ---- memory
  // The address of operand k, and what the base register becomes.
  std::pair<Term, std::optional<Term>> place(const Instruction& i, size_t k) {
    const Operand& o = operand(i, k);
    if (o.kind != Kind::kMemory) throw Failure("no address: " + i.text);
    if (o.reg == kPc || o.index == kPc) throw Failure("an address from pc: " + i.text);
    const Term base = get(o.reg);
    if (o.index >= 0) return {t_.add(base, t_.shift_left(get(o.index), static_cast<int>(o.number))), std::nullopt};
    const Term moved = t_.add(base, constant(o.number));
    if (k + 1 < i.operands.size()) return {moved, t_.add(moved, constant(number(i, k + 1)))};
    return {moved, o.written ? std::optional(moved) : std::nullopt};
  }
  void jump(Term to) {
    const auto found = t_.address_of(to);
    if (!found) throw needs(to);
    if (found->region != call_.code || found->offset % 2 == 0) throw Failure("a jump to " + t_.text(to));
    next_ = static_cast<int>(found->offset - 1);
  }

  // ---- instructions
  template <int kBytes, bool kSigned>
  void load_one(const Instruction& i) {
    const auto [at, moved] = place(i, 1);
    const Term v = load(at, kBytes, kSigned, 1);
    if (moved) set(operand(i, 1).reg, *moved);
    if (kBytes == 4 && operand(i, 0).kind == Kind::kRegister && operand(i, 0).reg == kPc) return jump(v);
    set(i, 0, v);
  }
  template <int kBytes>
  void store_one(const Instruction& i) {
    const auto [at, moved] = place(i, 1);
    store(at, kBytes, get(i, 0), 1);
    if (moved) set(operand(i, 1).reg, *moved);
  }
  void ldrd(const Instruction& i) {
    const auto [at, moved] = place(i, 2);
    const Term first = load(at, 4, false, 4), second = load(t_.add(at, constant(4)), 4, false, 4);
    if (moved) set(operand(i, 2).reg, *moved);
    set(i, 0, first);
    set(i, 1, second);
  }
  void strd(const Instruction& i) {
    const auto [at, moved] = place(i, 2);
    store(at, 4, get(i, 0), 4);
    store(t_.add(at, constant(4)), 4, get(i, 1), 4);
    if (moved) set(operand(i, 2).reg, *moved);
  }
  static uint32_t list(const Instruction& i, size_t k, Kind kind) {
    const Operand& o = operand(i, k);
    if (o.kind != kind) throw Failure("no list: " + i.text);
    return o.list;
  }
  void ldm(const Instruction& i) {
    const uint32_t registers = list(i, 1, Kind::kList);
    const int base = reg(i, 0);
    Term at = get(base);
    std::vector<std::pair<int, Term>> loaded;
    for (int r = 0; r < kRegisters; ++r) {
      if ((registers >> r & 1) == 0) continue;
      loaded.emplace_back(r, load(at, 4, false, 4));
      at = t_.add(at, constant(4));
    }
    if (operand(i, 0).written) set(base, at);
    for (const auto& [r, v] : loaded) {
      if (r == kPc) throw Failure("a load of pc");
      set(r, v);
    }
  }
  void stm(const Instruction& i) {
    const uint32_t registers = list(i, 1, Kind::kList);
    const int base = reg(i, 0);
    Term at = get(base);
    for (int r = 0; r < kRegisters; ++r) {
      if ((registers >> r & 1) == 0) continue;
      if (r == kPc) throw Failure("a store of pc");
      store(at, 4, get(r), 4);
      at = t_.add(at, constant(4));
    }
    if (operand(i, 0).written) set(base, at);
  }
  void push(const Instruction& i) {
    const uint32_t registers = list(i, 0, Kind::kList);
    Term at = t_.subtract(get(kSp), constant(4 * std::popcount(registers)));
    set(kSp, at);
    for (int r = 0; r < kRegisters; ++r) {
      if ((registers >> r & 1) == 0) continue;
      if (r == kPc || r == kSp) throw Failure("a push of pc or sp");
      store(at, 4, get(r), 4);
      at = t_.add(at, constant(4));
    }
  }
  void pop(const Instruction& i) {
    const uint32_t registers = list(i, 0, Kind::kList);
    Term at = get(kSp);
    for (int r = 0; r < kRegisters; ++r) {
      if ((registers >> r & 1) == 0) continue;
      if (r == kPc || r == kSp) throw Failure("a pop of pc or sp");
      set(r, load(at, 4, false, 4));
      at = t_.add(at, constant(4));
    }
    set(kSp, at);
  }
  void vldm(const Instruction& i) {
    const uint32_t registers = list(i, 1, Kind::kFloatList);
    const int base = reg(i, 0);
    Term at = get(base);
    for (int s = 0; s < kFloats; ++s) {
      if ((registers >> s & 1) == 0) continue;
      now_.s[static_cast<size_t>(s)] = load(at, 4, false, 4);
      at = t_.add(at, constant(4));
    }
    if (operand(i, 0).written) set(base, at);
  }
  void vstm(const Instruction& i) {
    const uint32_t registers = list(i, 1, Kind::kFloatList);
    const int base = reg(i, 0);
    Term at = get(base);
    for (int s = 0; s < kFloats; ++s) {
      if ((registers >> s & 1) == 0) continue;
      store(at, 4, now_.s[static_cast<size_t>(s)], 4);
      at = t_.add(at, constant(4));
    }
    if (operand(i, 0).written) set(base, at);
  }

  void mov(const Instruction& i) {
    const Term v = flexible(i, 1);
    flags_of_result(i, v);
    set(i, 0, v);
  }
  void mvn(const Instruction& i) { set(i, 0, t_.subtract(constant(-1), flexible(i, 1))); }
  void movt(const Instruction& i) {
    set(i, 0, t_.add(t_.slice(get(i, 0), 0, 16, false), constant(number(i, 1) << 16)));
  }
  void add(const Instruction& i) {
    const size_t k = first_source(i);
    const Term v = t_.add(get(i, k), flexible(i, k + 1));
    flags_of_result(i, v);
    set(i, 0, v);
  }
  void sub(const Instruction& i) {
    const size_t k = first_source(i);
    const Term a = get(i, k), b = flexible(i, k + 1);
    if (i.sets_flags) flags_of_difference(a, b);
    set(i, 0, t_.subtract(a, b));
  }
  void rsb(const Instruction& i) {
    const size_t k = first_source(i);
    const Term a = flexible(i, k + 1), b = get(i, k), v = t_.subtract(a, b);
    if (i.sets_flags) flags_of_difference(a, b);
    set(i, 0, v);
  }
  void cmp(const Instruction& i) { flags_of_difference(get(i, 0), flexible(i, 1)); }
  void cmn(const Instruction& i) {
    const Term a = get(i, 0), b = flexible(i, 1), minus = t_.subtract(0, b);
    // a + b is a - (-b) but for two numbers.
    const Range range = t_.range_of(b);
    if ((range.low > 0 || range.high < 0) && range.low > INT32_MIN) return flags_of_difference(a, minus);
    now_.flags.of = Of::kResult, now_.flags.a = t_.add(a, b), now_.flags.carry = -1;
  }
  void tst(const Instruction& i) {
    now_.flags.of = Of::kResult, now_.flags.a = t_.bit_operation(Operation::kAnd, get(i, 0), flexible(i, 1));
    now_.flags.carry = -1;
  }
  void adc(const Instruction& i) {
    const size_t k = first_source(i);
    set(i, 0, t_.add(t_.add(get(i, k), flexible(i, k + 1)), carry()));
  }
  template <Operation op, bool kNot = false>
  void bitwise(const Instruction& i) {
    const size_t k = first_source(i);
    Term b = flexible(i, k + 1);
    if (kNot) b = t_.subtract(constant(-1), b);
    const Term v = t_.bit_operation(op, get(i, k), b);
    flags_of_result(i, v);
    set(i, 0, v);
  }
  template <Operand::Shift kKind>
  void shift(const Instruction& i) {
    const size_t k = first_source(i);
    Operand o = operand(i, k + 1);
    o.shift = kKind;
    if (o.kind == Kind::kRegister) o.number = known(t_.slice(get(i, k + 1), 0, 8, false));
    if (o.number > 32) o.number = 32;
    const Term from = get(i, k), v = shifted(from, o);
    const auto by = static_cast<int>(o.number);
    // The last bit that leaves.
    const bool leaves = by > 0 && by <= 32;
    flags_of_result(i, v, !leaves ? -1 : t_.slice(from, kKind == Operand::Shift::kLeft ? 32 - by : by - 1, 1, false));
    set(i, 0, v);
  }
  template <int kBits, bool kSigned>
  void extend(const Instruction& i) {
    Term v = get(i, 1);
    if (i.operands.size() > 2) v = shifted(v, operand(i, 2));
    set(i, 0, t_.slice(v, 0, kBits, kSigned));
  }
  template <bool kSigned>
  void extend_bytes(const Instruction& i) {
    Term v = get(i, 1);
    if (i.operands.size() > 2) v = shifted(v, operand(i, 2));
    set(i, 0, joined(t_.slice(v, 0, 8, kSigned), t_.slice(v, 16, 8, kSigned)));
  }
  template <bool kSigned>
  void extract(const Instruction& i) {
    const int64_t low = number(i, 2), count = number(i, 3);
    if (low < 0 || count < 1 || low + count > 32) throw Failure("bits: " + i.text);
    set(i, 0, t_.slice(get(i, 1), static_cast<int>(low), static_cast<int>(count), kSigned));
  }
  void insert(const Instruction& i) {
    const int64_t low = number(i, 2), count = number(i, 3);
    if (low < 0 || count < 1 || low + count > 32) throw Failure("bits: " + i.text);
    Bits out = t_.bits(get(i, 0));
    const Bits from = t_.bits(get(i, 1));
    std::copy_n(from.begin(), count, out.begin() + low);
    set(i, 0, t_.of_bits(out));
  }
  template <bool kLowFirst>
  void pack(const Instruction& i) {
    const Term other = i.operands.size() > 3 ? shifted(get(i, 2), operand(i, 3)) : get(i, 2);
    const Term first = get(i, 1);
    const Term low = kLowFirst ? first : other, high = kLowFirst ? other : first;
    set(i, 0, joined(low, t_.slice(high, 16, 16, false)));
  }
  template <bool kSigned>
  void saturate(const Instruction& i) {
    const int64_t bits = number(i, 1);
    const Term v = i.operands.size() > 3 ? shifted(get(i, 2), operand(i, 3)) : get(i, 2);
    if (bits < 0 || bits > (kSigned ? 32 : 31) || (kSigned && bits < 1)) throw Failure("bits: " + i.text);
    const int64_t high = (int64_t{1} << (kSigned ? bits - 1 : bits)) - 1, low = kSigned ? -high - 1 : 0;
    set(i, 0, t_.clamp(v, static_cast<int32_t>(low), static_cast<int32_t>(high)));
  }

  // The sum of the products of halves, of which the second is subtracted or not; `kCross`: m's halves are exchanged.
  template <bool kCross, bool kMinus, bool kAdds>
  void dual(const Instruction& i) {
    const Term n = get(i, 1), m = get(i, 2);
    const Term first = t_.multiply(half(n, 0), half(m, kCross ? 1 : 0));
    const Term second = t_.multiply(half(n, 1), half(m, kCross ? 0 : 1));
    Term v = kMinus ? t_.subtract(first, second) : t_.add(first, second);
    if (kAdds) v = t_.add(v, get(i, 3));
    set(i, 0, v);
  }
  template <int kN, int kM, bool kAdds>
  void halves(const Instruction& i) {
    Term v = t_.multiply(half(get(i, 1), kN), half(get(i, 2), kM));
    if (kAdds) v = t_.add(v, get(i, 3));
    set(i, 0, v);
  }
  void mul(const Instruction& i) {
    const size_t k = first_source(i);
    const Term v = t_.multiply(get(i, k), get(i, k + 1));
    flags_of_result(i, v);
    set(i, 0, v);
  }
  template <bool kMinus>
  void mla(const Instruction& i) {
    const Term product = t_.multiply(get(i, 1), get(i, 2)), a = get(i, 3);
    set(i, 0, kMinus ? t_.subtract(a, product) : t_.add(a, product));
  }
  void smull(const Instruction& i) {
    const Term n = get(i, 2), m = get(i, 3);
    const Term low = t_.multiply(n, m), high = t_.high_word(n, m);
    set(i, 0, low);
    set(i, 1, high);
  }
  template <bool kRounds, bool kAdds>
  void high(const Instruction& i) {
    Term v = t_.high_word(get(i, 1), get(i, 2), kRounds ? int64_t{1} << 31 : 0);
    if (kAdds) v = t_.add(v, get(i, 3));
    set(i, 0, v);
  }
  template <bool kMinus>
  void halves_sum(const Instruction& i) {
    const Term n = get(i, 1), m = get(i, 2);
    auto one = [&](int which) {
      return kMinus ? t_.subtract(half(n, which), half(m, which)) : t_.add(half(n, which), half(m, which));
    };
    set(i, 0, joined(one(0), one(1)));
  }
  // The flags that `sel` reads are those of each byte's difference.
  void ssub8(const Instruction& i) {
    now_.flags.byte_a = get(i, 1), now_.flags.byte_b = get(i, 2);
    now_.flags.of_bytes = true;
    Bits out{};
    for (int k = 0; k < 4; ++k) {
      const Bits from = t_.bits(
          t_.subtract(t_.slice(now_.flags.byte_a, 8 * k, 8, true), t_.slice(now_.flags.byte_b, 8 * k, 8, true)));
      std::copy_n(from.begin(), 8, out.begin() + 8 * k);
    }
    set(i, 0, t_.of_bits(out));
  }
  void sel(const Instruction& i) {
    if (!now_.flags.of_bytes) throw Failure("flags that nothing sets");
    Bits out{};
    for (int k = 0; k < 4; ++k) {
      auto byte = [&](Term v) { return t_.slice(v, 8 * k, 8, true); };
      const Term a = byte(now_.flags.byte_a), b = byte(now_.flags.byte_b), x = byte(get(i, 1)), y = byte(get(i, 2));
      Term v = 0;
      if (x == a && y == b) v = t_.maximum(a, b);
      else if (x == b && y == a) v = t_.minimum(a, b);
      else v = t_.select(t_.less(a, b), y, x);
      const Bits from = t_.bits(v);
      std::copy_n(from.begin(), 8, out.begin() + 8 * k);
    }
    set(i, 0, t_.of_bits(out));
  }

  void vmov(const Instruction& i) {
    if (i.operands.size() != 2) throw Failure("operands: " + i.text);
    const Term v = operand(i, 1).kind == Kind::kFloat ? now_.s[static_cast<size_t>(single(i, 1))] : get(i, 1);
    if (operand(i, 0).kind == Kind::kFloat) now_.s[static_cast<size_t>(single(i, 0))] = v;
    else set(i, 0, v);
  }
  template <Operation op>
  void float_one(const Instruction& i) {
    now_.s[static_cast<size_t>(single(i, 0))] = t_.operation(op, {now_.s[static_cast<size_t>(single(i, 1))]});
  }
  void vmul(const Instruction& i) {
    const Term a = now_.s[static_cast<size_t>(single(i, 1))], b = now_.s[static_cast<size_t>(single(i, 2))];
    now_.s[static_cast<size_t>(single(i, 0))] =
        t_.operation(Operation::kFloatProduct, {std::min(a, b), std::max(a, b)});
  }

  void vadd(const Instruction& i) {
    now_.s[static_cast<size_t>(single(i, 0))] = t_.operation(
        Operation::kFloatSum, {now_.s[static_cast<size_t>(single(i, 1))], now_.s[static_cast<size_t>(single(i, 2))]});
  }
  void branch(const Instruction& i) { next_ = at_ + 4 + static_cast<int>(number(i, 0)); }
  // From a multiple of 4: the text is placed at one if it has such an instruction.
  void adr(const Instruction& i) { set(i, 0, t_.add(t_.base(call_.code), constant(((at_ + 4) & ~3) + number(i, 1)))); }
  // The instructions behind it have their conditions in their names.
  void it(const Instruction&) {}
  void nop(const Instruction&) {}
};

const std::map<std::string, Thumb::Function, std::less<>>& Thumb::table() {
  static const std::map<std::string, Function, std::less<>> kTable = {
      {"ldr", &Thumb::load_one<4, false>},
      {"ldrb", &Thumb::load_one<1, false>},
      {"ldrh", &Thumb::load_one<2, false>},
      {"ldrsb", &Thumb::load_one<1, true>},
      {"ldrsh", &Thumb::load_one<2, true>},
      {"str", &Thumb::store_one<4>},
      {"strb", &Thumb::store_one<1>},
      {"strh", &Thumb::store_one<2>},
      {"ldrd", &Thumb::ldrd},
      {"strd", &Thumb::strd},
      {"ldm", &Thumb::ldm},
      {"stm", &Thumb::stm},
      {"push", &Thumb::push},
      {"pop", &Thumb::pop},
      {"vldmia", &Thumb::vldm},
      {"vstmia", &Thumb::vstm},
      {"mov", &Thumb::mov},
      {"movw", &Thumb::mov},
      {"movt", &Thumb::movt},
      {"mvn", &Thumb::mvn},
      {"add", &Thumb::add},
      {"addw", &Thumb::add},
      {"sub", &Thumb::sub},
      {"subw", &Thumb::sub},
      {"rsb", &Thumb::rsb},
      {"cmp", &Thumb::cmp},
      {"adc", &Thumb::adc},
      {"cmn", &Thumb::cmn},
      {"tst", &Thumb::tst},
      {"and", &Thumb::bitwise<Operation::kAnd>},
      {"bic", &Thumb::bitwise<Operation::kAnd, true>},
      {"orr", &Thumb::bitwise<Operation::kOr>},
      {"eor", &Thumb::bitwise<Operation::kXor>},
      {"lsl", &Thumb::shift<Operand::Shift::kLeft>},
      {"lsr", &Thumb::shift<Operand::Shift::kRightUnsigned>},
      {"asr", &Thumb::shift<Operand::Shift::kRight>},
      {"sxtb", &Thumb::extend<8, true>},
      {"sxth", &Thumb::extend<16, true>},
      {"uxtb", &Thumb::extend<8, false>},
      {"uxth", &Thumb::extend<16, false>},
      {"sxtb16", &Thumb::extend_bytes<true>},
      {"uxtb16", &Thumb::extend_bytes<false>},
      {"sbfx", &Thumb::extract<true>},
      {"ubfx", &Thumb::extract<false>},
      {"bfi", &Thumb::insert},
      {"pkhbt", &Thumb::pack<true>},
      {"pkhtb", &Thumb::pack<false>},
      {"ssat", &Thumb::saturate<true>},
      {"usat", &Thumb::saturate<false>},
      {"smlad", &Thumb::dual<false, false, true>},
      {"smladx", &Thumb::dual<true, false, true>},
      {"smlsd", &Thumb::dual<false, true, true>},
      {"smlsdx", &Thumb::dual<true, true, true>},
      {"smuad", &Thumb::dual<false, false, false>},
      {"smuadx", &Thumb::dual<true, false, false>},
      {"smusd", &Thumb::dual<false, true, false>},
      {"smusdx", &Thumb::dual<true, true, false>},
      {"smlabb", &Thumb::halves<0, 0, true>},
      {"smlabt", &Thumb::halves<0, 1, true>},
      {"smlatb", &Thumb::halves<1, 0, true>},
      {"smlatt", &Thumb::halves<1, 1, true>},
      {"smulbb", &Thumb::halves<0, 0, false>},
      {"smulbt", &Thumb::halves<0, 1, false>},
      {"smultb", &Thumb::halves<1, 0, false>},
      {"smultt", &Thumb::halves<1, 1, false>},
      {"mul", &Thumb::mul},
      {"mla", &Thumb::mla<false>},
      {"mls", &Thumb::mla<true>},
      {"smull", &Thumb::smull},
      {"smmul", &Thumb::high<false, false>},
      {"smmulr", &Thumb::high<true, false>},
      {"smmla", &Thumb::high<false, true>},
      {"smmlar", &Thumb::high<true, true>},
      {"sadd16", &Thumb::halves_sum<false>},
      {"ssub16", &Thumb::halves_sum<true>},
      {"ssub8", &Thumb::ssub8},
      {"sel", &Thumb::sel},
      {"vmov", &Thumb::vmov},
      {"vmul.f32", &Thumb::vmul},
      {"vadd.f32", &Thumb::vadd},
      {"vcvt.f32.s32", &Thumb::float_one<Operation::kFloatOfInt>},
      {"vcvtr.s32.f32", &Thumb::float_one<Operation::kNearestEven>},
      {"b", &Thumb::branch},
      {"adr", &Thumb::adr},
      {"it", &Thumb::it},
      {"nop", &Thumb::nop},
  };
  return kTable;
}

Instruction read_thumb(const MachineCode::Line& line) {
  static const std::string_view kConditions[] = {"eq", "ne", "hs", "lo", "mi", "pl", "vs",
                                                 "vc", "hi", "ls", "ge", "lt", "gt", "le"};
  Instruction out;
  out.at = line.at, out.bytes = line.bytes;
  const std::string_view text = trimmed(line.text);
  out.text = std::string(text);
  std::replace(out.text.begin(), out.text.end(), '\t', ' ');
  const size_t end = std::min(text.find_first_of(" \t"), text.size());
  std::string_view name = text.substr(0, end);
  if (name.ends_with(".w")) name.remove_suffix(2);
  auto knows = [](std::string_view n) { return Thumb::table().contains(n); };
  if (!knows(name) && name.size() > 2) {
    const std::string_view last = name.substr(name.size() - 2);
    if (knows(name.substr(0, name.size() - 2)) && std::ranges::find(kConditions, last) != std::end(kConditions)) {
      out.condition = std::string(last);
      name.remove_suffix(2);
    }
  }
  if (!knows(name) && name.ends_with('s') && knows(name.substr(0, name.size() - 1))) {
    out.sets_flags = true;
    name.remove_suffix(1);
  }
  if (!knows(name)) throw Failure("the checker has no instruction: " + out.text);
  thumb().set_name(out, std::string(name));
  if (name != "it")
    for (std::string_view part : split(text.substr(end))) out.operands.push_back(operand_of(part));
  return out;
}

class ThumbIsa final : public Isa {
 public:
  CoreName core() const override { return {"thumbv7em-none-eabihf", "cortex-m4", ""}; }
  std::pair<std::string, std::string> frame() const override {
    return {".syntax unified\n.thumb\n.fnstart\n", ".fnend\n"};
  }
  Instruction read(const MachineCode::Line& line) const override { return read_thumb(line); }
  bool set_name(Instruction& to, const std::string& name) const override {
    const auto found = Thumb::table().find(name);
    if (found == Thumb::table().end()) return false;
    to.name = name;
    to.code = static_cast<size_t>(std::distance(Thumb::table().begin(), found));
    return true;
  }
  const std::vector<std::vector<std::string>>& alike() const override {
    static const std::vector<std::vector<std::string>> kAlike = {
        {"smlad", "smladx", "smlsd", "smlsdx"},
        {"smlabb", "smlabt", "smlatb", "smlatt", "mla", "mls", "smmla", "smmlar"},
        {"smulbb", "smulbt", "smultb", "smultt", "smuad", "smuadx", "smusd", "smusdx", "smmul", "smmulr"},
        {"sxtb16", "uxtb16", "sxtb", "uxtb", "sxth", "uxth"},
        {"add", "sub", "rsb", "and", "orr", "eor", "bic"},
        {"lsl", "lsr", "asr"},
        {"ssat", "usat"},
        {"sadd16", "ssub16"},
        {"pkhbt", "pkhtb"},
        {"sbfx", "ubfx"},
        {"ldr", "ldrh", "ldrb", "ldrsh", "ldrsb"},
        {"str", "strh", "strb"},
        {"mov", "mvn"},
        {"movw", "movt"},
    };
    return kAlike;
  }
  std::vector<std::string> conditions() const override { return {"eq", "ne", "mi", "pl", "lt", "ge"}; }
  int registers() const override { return kPc; }
  Instruction nothing(const Instruction& at) const override {
    Instruction out = at;
    set_name(out, "nop");
    out.operands.clear();
    return out;
  }
  std::unique_ptr<Machine> machine(Terms& terms, Memory& memory, const std::vector<Instruction>& text,
                                   const Call& call) const override {
    return std::make_unique<Thumb>(terms, memory, text, call);
  }
};

}  // namespace

const Isa& thumb() {
  static const ThumbIsa kIsa;
  return kIsa;
}

}  // namespace aotc::tests::proof
