// SPDX-License-Identifier: Apache-2.0
#include "thumb.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

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

enum class FlagsOf : uint8_t { kNothing, kDifference, kResult };

class Core {
 public:
  Core(Terms& terms, Memory& memory, const std::vector<Instruction>& text, const Call& call)
      : t_(terms), memory_(memory), text_(text), call_(call) {
    for (size_t i = 0; i < text.size(); ++i) index_[text[i].at] = i;
    for (int r = 0; r < kRegisters; ++r) first_.push_back(unknown(r));
    for (size_t i = 0; i < call.arguments.size(); ++i) first_[i] = call.arguments[i];
    const int64_t stack = memory.region(call.stack).bytes;
    first_[kSp] = t_.add(t_.base(call.stack), t_.constant(static_cast<uint32_t>(stack)));
    for (int s = 0; s < kFloats; ++s) first_floats_.push_back(unknown(kRegisters + s));
    r_ = first_;
    s_ = first_floats_;
  }

  void run(std::vector<bool>* ran, int64_t* steps, Trial* trial) {
    const int end = text_.empty() ? 0 : text_.back().at + text_.back().bytes;
    int64_t count = 0;
    for (int at = 0; at != end;) {
      const auto found = index_.find(at);
      if (found == index_.end()) throw Failure("a jump to no instruction");
      if (++count > call_.most_steps) throw Failure("too many steps");
      const Instruction& i = text_[found->second];
      if (ran != nullptr) (*ran)[found->second] = true;
      next_ = at + i.bytes;
      at_ = at;
      if (trial != nullptr && trial->where == found->second) compare(i, *trial);
      else step(i);
      stored_.clear();
      at = next_;
    }
    if (steps != nullptr) *steps = count;
    check_end();
  }

  using Function = void (Core::*)(const Instruction&);
  static const std::map<std::string, Function, std::less<>>& table();
  static const std::vector<Function>& functions() {
    static const std::vector<Function> kFunctions = [] {
      std::vector<Function> out;
      for (const auto& [name, function] : table()) out.push_back(function);
      return out;
    }();
    return kFunctions;
  }

 private:
  struct Stored {
    int32_t region;
    int64_t offset;
    int bytes;
    Term value;
  };

  void step(const Instruction& i) {
    if (i.condition.empty() || holds(i.condition)) (this->*functions()[i.code])(i);
  }

  // Runs the text's instruction, and makes unknown what the other one would leave otherwise.
  void compare(const Instruction& own, Trial& trial) {
    const auto first_r = r_, first_s = s_;
    const auto first_flags = std::tuple(flags_, flag_a_, flag_b_, byte_a_, byte_b_, byte_flags_);
    const int first_next = next_;
    dry_ = true;
    stored_.clear();
    step(trial.other);
    // What it jumps to may be a few instructions that lead to the same place.
    const int end = next_after(own, first_next);
    constexpr int kMostSteps = 8;
    for (int k = 0; k < kMostSteps && next_ != end; ++k) {
      const auto found = index_.find(next_);
      if (found == index_.end()) break;
      const Instruction& more = text_[found->second];
      if (more.name == "b" || !more.condition.empty()) break;
      at_ = more.at, next_ = more.at + more.bytes;
      step(more);
    }
    at_ = own.at;
    dry_ = false;
    const auto other_stored = std::exchange(stored_, {});
    const auto other_r = std::exchange(r_, first_r), other_s = std::exchange(s_, first_s);
    const auto other_flags = std::tuple(flags_, flag_a_, flag_b_, byte_a_, byte_b_, byte_flags_);
    const int other_next = std::exchange(next_, first_next);
    std::tie(flags_, flag_a_, flag_b_, byte_a_, byte_b_, byte_flags_) = first_flags;
    stored_.clear();
    dry_ = true;
    step(own);
    dry_ = false;
    if (next_ != other_next) throw Failure("the trial jumps elsewhere");
    store_both(other_stored, trial);
    bool same = true;
    for (size_t r = 0; r < r_.size(); ++r) same &= forget_difference(r_[r], other_r[r]);
    for (size_t s = 0; s < s_.size(); ++s) same &= forget_difference(s_[s], other_s[s]);
    if (std::tuple(flags_, flag_a_, flag_b_, byte_a_, byte_b_, byte_flags_) != other_flags) {
      flags_ = FlagsOf::kNothing, byte_flags_ = false;
      same = false;
    }
    trial.same = trial.same && same;
  }
  // Where a branch goes, and what follows another instruction.
  int next_after(const Instruction& own, int behind) {
    if (own.name != "b" || (!own.condition.empty() && !holds(own.condition))) return behind;
    return own.at + 4 + static_cast<int>(number(own, 0));
  }
  // Stores what the text's own instruction stores, but bytes unknown where the other one would leave other bytes.
  void store_both(const std::vector<Stored>& others, Trial& trial) {
    using Bytes = std::map<std::pair<int32_t, int64_t>, Memory::Byte>;
    auto bytes_of = [&](const std::vector<Stored>& stores) {
      Bytes out;
      for (const Stored& s : stores) {
        const Bits bits = t_.bits(s.value);
        for (int i = 0; i < s.bytes; ++i) std::copy_n(bits.begin() + 8 * i, 8, out[{s.region, s.offset + i}].begin());
      }
      return out;
    };
    const Bytes own = bytes_of(stored_), other = bytes_of(others);
    std::vector<std::pair<int32_t, int64_t>> different;
    Bytes all = own;
    all.insert(other.begin(), other.end());
    for (const auto& [place, byte] : all) {
      auto after = [&](const Bytes& stores) {
        const auto found = stores.find(place);
        return found != stores.end() ? found->second : memory_.byte(place.first, place.second);
      };
      if (after(own) != after(other)) different.push_back(place);
    }
    for (const Stored& s : stored_) memory_.store(s.region, s.offset, s.bytes, s.value);
    for (const auto& [region, offset] : different) {
      Bits unknown{};
      const int32_t source = t_.new_source("unknown");
      for (size_t i = 0; i < unknown.size(); ++i) unknown[i] = {source, static_cast<int32_t>(i)};
      memory_.store(region, offset, 1, t_.of_bits(unknown));
      trial.same = false;
    }
  }
  bool forget_difference(Term& to, Term other) {
    if (to == other) return true;
    Bits out = t_.bits(to);
    const Bits others = t_.bits(other);
    const int32_t source = t_.new_source("unknown");
    for (size_t i = 0; i < out.size(); ++i)
      if (out[i] != others[i]) out[i] = {source, static_cast<int32_t>(i)};
    to = t_.of_bits(out);
    return false;
  }

  // An unknown value that the caller has in a register: its address is none.
  Term unknown(int number) { return t_.operation(Operation::kBase, {}, {-1 - number, 0}); }

  void check_end() const {
    auto may_change = [&](const std::string& name) {
      return std::find(call_.clobbers.begin(), call_.clobbers.end(), name) != call_.clobbers.end();
    };
    for (int r = 0; r < kPc; ++r) {
      const std::string name = r == kSp ? "sp" : r == kLr ? "lr" : fmt::format("r{}", r);
      if (r_[static_cast<size_t>(r)] != first_[static_cast<size_t>(r)] && !may_change(name))
        throw Failure(name + " is not what it was");
    }
    for (int s = 0; s < kFloats; ++s)
      if (s_[static_cast<size_t>(s)] != first_floats_[static_cast<size_t>(s)] && !may_change(fmt::format("s{}", s)))
        throw Failure(fmt::format("s{} is not what it was", s));
  }

  // ---- operands
  static const Operand& operand(const Instruction& i, size_t k) {
    if (k >= i.operands.size()) throw Failure("too few operands: " + i.text);
    return i.operands[k];
  }
  static int reg(const Instruction& i, size_t k) {
    const Operand& o = operand(i, k);
    if (o.kind != Kind::kRegister || o.reg == kPc) throw Failure("no register: " + i.text);
    return o.reg;
  }
  static int single(const Instruction& i, size_t k) {
    const Operand& o = operand(i, k);
    if (o.kind != Kind::kFloat || o.reg >= kFloats) throw Failure("no register: " + i.text);
    return o.reg;
  }
  static int64_t number(const Instruction& i, size_t k) {
    const Operand& o = operand(i, k);
    if (o.kind != Kind::kNumber) throw Failure("no number: " + i.text);
    return o.number;
  }
  Term get(int r) const { return r_[static_cast<size_t>(r)]; }
  Term get(const Instruction& i, size_t k) const { return get(reg(i, k)); }
  void set(int r, Term v) { r_[static_cast<size_t>(r)] = v; }
  void set(const Instruction& i, size_t k, Term v) { set(reg(i, k), v); }
  Term constant(int64_t v) { return t_.constant(static_cast<uint32_t>(v)); }

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
  void flags_of_result(const Instruction& i, Term v) {
    if (i.sets_flags) flags_ = FlagsOf::kResult, flag_a_ = v;
  }
  int64_t known(Term v) const {
    if (const auto found = t_.value_of(v)) return static_cast<int32_t>(*found);
    throw needs(v);
  }
  NeedsKnown needs(Term v) const {
    NeedsKnown out;
    t_.add_bits_below(v, out.bits);
    return out;
  }
  bool is_zero(Term v) {
    for (const Bit& bit : t_.bits(v))
      if (bit == Bit{Bit::kConstant, 1}) return false;
    return known(v) == 0;
  }
  bool holds(const std::string& condition) {
    if (flags_ == FlagsOf::kNothing) throw Failure("flags that nothing sets");
    // These need only some bits of the difference: of addresses of one region it is known, and of a counter beside data
    // in one word the sign is.
    const Term difference = flags_ == FlagsOf::kResult ? flag_a_ : t_.subtract(flag_a_, flag_b_);
    if (condition == "eq") return is_zero(difference);
    if (condition == "ne") return !is_zero(difference);
    if (condition == "mi") return known(t_.slice(difference, 31, 1, false)) != 0;
    if (condition == "pl") return known(t_.slice(difference, 31, 1, false)) == 0;
    if (flags_ == FlagsOf::kResult) throw Failure("a carry that is not known");
    const int64_t a = known(flag_a_), b = known(flag_b_);
    if (condition == "lt") return a < b;
    if (condition == "ge") return a >= b;
    if (condition == "gt") return a > b;
    if (condition == "le") return a <= b;
    const auto m = static_cast<uint32_t>(a), n = static_cast<uint32_t>(b);
    if (condition == "lo") return m < n;
    if (condition == "hs") return m >= n;
    if (condition == "hi") return m > n;
    if (condition == "ls") return m <= n;
    throw Failure("condition " + condition);
  }

  // ---- memory
  Terms::Address address(Term v, int64_t alignment) const {
    const auto found = t_.address_of(v);
    if (!found) throw needs(v);
    if (found->region < 0 || found->region == call_.code) throw Failure("no address: " + t_.text(v));
    const Region& region = memory_.region(found->region);
    if (alignment > 1 && (region.alignment % alignment != 0 || found->offset % alignment != 0))
      throw Failure(fmt::format("byte {} of '{}' at an address that is no multiple of {}", found->offset, region.name,
                                alignment));
    if (found->region == call_.stack) {
      const auto sp = t_.address_of(get(kSp));
      if (!sp || sp->region != call_.stack || found->offset < sp->offset) throw Failure("an access below sp");
    }
    return *found;
  }
  Term load(Term at, int bytes, bool is_signed, int64_t alignment) const {
    const auto place = address(at, alignment);
    return memory_.load(place.region, place.offset, bytes, is_signed);
  }
  void store(Term at, int bytes, Term v, int64_t alignment) {
    const auto place = address(at, alignment);
    if (!memory_.region(place.region).writable)
      throw Failure(fmt::format("a store to '{}'", memory_.region(place.region).name));
    stored_.push_back({place.region, place.offset, bytes, t_.slice(v, 0, 8 * bytes, false)});
    if (!dry_) memory_.store(place.region, place.offset, bytes, v);
  }
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
      s_[static_cast<size_t>(s)] = load(at, 4, false, 4);
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
      store(at, 4, s_[static_cast<size_t>(s)], 4);
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
    if (i.sets_flags) flags_ = FlagsOf::kDifference, flag_a_ = a, flag_b_ = b;
    set(i, 0, t_.subtract(a, b));
  }
  void rsb(const Instruction& i) {
    const size_t k = first_source(i);
    const Term v = t_.subtract(flexible(i, k + 1), get(i, k));
    flags_of_result(i, v);
    set(i, 0, v);
  }
  void cmp(const Instruction& i) { flags_ = FlagsOf::kDifference, flag_a_ = get(i, 0), flag_b_ = flexible(i, 1); }
  void cmn(const Instruction& i) { flags_ = FlagsOf::kResult, flag_a_ = t_.add(get(i, 0), flexible(i, 1)); }
  void tst(const Instruction& i) {
    flags_ = FlagsOf::kResult, flag_a_ = t_.bit_operation(Operation::kAnd, get(i, 0), flexible(i, 1));
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
    const Term v = shifted(get(i, k), o);
    flags_of_result(i, v);
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
    byte_a_ = get(i, 1), byte_b_ = get(i, 2);
    byte_flags_ = true;
    Bits out{};
    for (int k = 0; k < 4; ++k) {
      const Bits from = t_.bits(t_.subtract(t_.slice(byte_a_, 8 * k, 8, true), t_.slice(byte_b_, 8 * k, 8, true)));
      std::copy_n(from.begin(), 8, out.begin() + 8 * k);
    }
    set(i, 0, t_.of_bits(out));
  }
  void sel(const Instruction& i) {
    if (!byte_flags_) throw Failure("flags that nothing sets");
    Bits out{};
    for (int k = 0; k < 4; ++k) {
      auto byte = [&](Term v) { return t_.slice(v, 8 * k, 8, true); };
      const Term a = byte(byte_a_), b = byte(byte_b_), x = byte(get(i, 1)), y = byte(get(i, 2));
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
    const Term v = operand(i, 1).kind == Kind::kFloat ? s_[static_cast<size_t>(single(i, 1))] : get(i, 1);
    if (operand(i, 0).kind == Kind::kFloat) s_[static_cast<size_t>(single(i, 0))] = v;
    else set(i, 0, v);
  }
  template <Operation op>
  void float_one(const Instruction& i) {
    s_[static_cast<size_t>(single(i, 0))] = t_.operation(op, {s_[static_cast<size_t>(single(i, 1))]});
  }
  void vmul(const Instruction& i) {
    const Term a = s_[static_cast<size_t>(single(i, 1))], b = s_[static_cast<size_t>(single(i, 2))];
    s_[static_cast<size_t>(single(i, 0))] = t_.operation(Operation::kFloatProduct, {std::min(a, b), std::max(a, b)});
  }

  void branch(const Instruction& i) { next_ = at_ + 4 + static_cast<int>(number(i, 0)); }
  // From a multiple of 4: the text is placed at one if it has such an instruction.
  void adr(const Instruction& i) { set(i, 0, t_.add(t_.base(call_.code), constant(((at_ + 4) & ~3) + number(i, 1)))); }
  // The instructions behind it have their conditions in their names.
  void it(const Instruction&) {}
  void nop(const Instruction&) {}

  Terms& t_;
  Memory& memory_;
  const std::vector<Instruction>& text_;
  const Call& call_;
  std::unordered_map<int, size_t> index_;
  std::vector<Term> r_, s_, first_, first_floats_;
  FlagsOf flags_ = FlagsOf::kNothing;
  Term flag_a_ = 0, flag_b_ = 0, byte_a_ = 0, byte_b_ = 0;
  bool byte_flags_ = false;
  std::vector<Stored> stored_;  // by the present instruction
  bool dry_ = false;            // stores are only noted
  int at_ = 0, next_ = 0;
};

const std::map<std::string, Core::Function, std::less<>>& Core::table() {
  static const std::map<std::string, Function, std::less<>> kTable = {
      {"ldr", &Core::load_one<4, false>},
      {"ldrb", &Core::load_one<1, false>},
      {"ldrh", &Core::load_one<2, false>},
      {"ldrsb", &Core::load_one<1, true>},
      {"ldrsh", &Core::load_one<2, true>},
      {"str", &Core::store_one<4>},
      {"strb", &Core::store_one<1>},
      {"strh", &Core::store_one<2>},
      {"ldrd", &Core::ldrd},
      {"strd", &Core::strd},
      {"ldm", &Core::ldm},
      {"stm", &Core::stm},
      {"push", &Core::push},
      {"pop", &Core::pop},
      {"vldmia", &Core::vldm},
      {"vstmia", &Core::vstm},
      {"mov", &Core::mov},
      {"movw", &Core::mov},
      {"movt", &Core::movt},
      {"mvn", &Core::mvn},
      {"add", &Core::add},
      {"addw", &Core::add},
      {"sub", &Core::sub},
      {"subw", &Core::sub},
      {"rsb", &Core::rsb},
      {"cmp", &Core::cmp},
      {"cmn", &Core::cmn},
      {"tst", &Core::tst},
      {"and", &Core::bitwise<Operation::kAnd>},
      {"bic", &Core::bitwise<Operation::kAnd, true>},
      {"orr", &Core::bitwise<Operation::kOr>},
      {"eor", &Core::bitwise<Operation::kXor>},
      {"lsl", &Core::shift<Operand::Shift::kLeft>},
      {"lsr", &Core::shift<Operand::Shift::kRightUnsigned>},
      {"asr", &Core::shift<Operand::Shift::kRight>},
      {"sxtb", &Core::extend<8, true>},
      {"sxth", &Core::extend<16, true>},
      {"uxtb", &Core::extend<8, false>},
      {"uxth", &Core::extend<16, false>},
      {"sxtb16", &Core::extend_bytes<true>},
      {"uxtb16", &Core::extend_bytes<false>},
      {"sbfx", &Core::extract<true>},
      {"ubfx", &Core::extract<false>},
      {"bfi", &Core::insert},
      {"pkhbt", &Core::pack<true>},
      {"pkhtb", &Core::pack<false>},
      {"ssat", &Core::saturate<true>},
      {"usat", &Core::saturate<false>},
      {"smlad", &Core::dual<false, false, true>},
      {"smladx", &Core::dual<true, false, true>},
      {"smlsd", &Core::dual<false, true, true>},
      {"smlsdx", &Core::dual<true, true, true>},
      {"smuad", &Core::dual<false, false, false>},
      {"smuadx", &Core::dual<true, false, false>},
      {"smusd", &Core::dual<false, true, false>},
      {"smusdx", &Core::dual<true, true, false>},
      {"smlabb", &Core::halves<0, 0, true>},
      {"smlabt", &Core::halves<0, 1, true>},
      {"smlatb", &Core::halves<1, 0, true>},
      {"smlatt", &Core::halves<1, 1, true>},
      {"smulbb", &Core::halves<0, 0, false>},
      {"smulbt", &Core::halves<0, 1, false>},
      {"smultb", &Core::halves<1, 0, false>},
      {"smultt", &Core::halves<1, 1, false>},
      {"mul", &Core::mul},
      {"mla", &Core::mla<false>},
      {"mls", &Core::mla<true>},
      {"smull", &Core::smull},
      {"smmul", &Core::high<false, false>},
      {"smmulr", &Core::high<true, false>},
      {"smmla", &Core::high<false, true>},
      {"smmlar", &Core::high<true, true>},
      {"sadd16", &Core::halves_sum<false>},
      {"ssub16", &Core::halves_sum<true>},
      {"ssub8", &Core::ssub8},
      {"sel", &Core::sel},
      {"vmov", &Core::vmov},
      {"vmul.f32", &Core::vmul},
      {"vcvt.f32.s32", &Core::float_one<Operation::kFloatOfInt>},
      {"vcvtr.s32.f32", &Core::float_one<Operation::kNearestEven>},
      {"b", &Core::branch},
      {"adr", &Core::adr},
      {"it", &Core::it},
      {"nop", &Core::nop},
  };
  return kTable;
}

}  // namespace

bool set_name(Instruction& to, const std::string& name) {
  const auto found = Core::table().find(name);
  if (found == Core::table().end()) return false;
  to.name = name;
  to.code = static_cast<size_t>(std::distance(Core::table().begin(), found));
  return true;
}

Instruction read_instruction(const MachineCode::Line& line) {
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
  auto knows = [](std::string_view n) { return Core::table().contains(n); };
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
  set_name(out, std::string(name));
  if (name != "it")
    for (std::string_view part : split(text.substr(end))) out.operands.push_back(operand_of(part));
  return out;
}

void run_thumb(Terms& terms, Memory& memory, const std::vector<Instruction>& text, const Call& call,
               std::vector<bool>* ran, int64_t* steps, Trial* trial) {
  Core(terms, memory, text, call).run(ran, steps, trial);
}

}  // namespace aotc::tests::proof
