// SPDX-License-Identifier: Apache-2.0
// What Thumb instructions do to the stack pointer, to the flow of control, and to what jumps are computed
// from. Other results make their register unknown.
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "machine/instruction.h"
#include "machine/value.h"

namespace aotc::machine {

namespace {

constexpr int kSp = 13, kLr = 14, kPc = 15, kNone = -1;

int thumb_register(std::string_view name) {
  static const std::map<std::string_view, int> kNames = {
      {"r0", 0},  {"r1", 1},    {"r2", 2},   {"r3", 3},    {"r4", 4},   {"r5", 5},    {"r6", 6},  {"r7", 7},
      {"r8", 8},  {"r9", 9},    {"sb", 9},   {"r10", 10},  {"sl", 10},  {"r11", 11},  {"fp", 11}, {"r12", 12},
      {"ip", 12}, {"r13", kSp}, {"sp", kSp}, {"r14", kLr}, {"lr", kLr}, {"r15", kPc}, {"pc", kPc}};
  auto found = kNames.find(name);
  return found == kNames.end() ? kNone : found->second;
}

// "{r4, r6-r8, lr}" as registers in order; "{d8-d9}" as their bytes.
struct RegisterList {
  std::vector<int> registers;
  int32_t bytes = 0;
};

RegisterList register_list(const std::string& text) {
  RegisterList out;
  std::string item;
  auto number = [](const std::string& name) {
    const int64_t value = name.size() < 2 ? 0 : number_in(name.substr(1)).value_or(0);
    return value < 64 ? value : 0;
  };
  auto add = [&] {
    if (item.empty()) return;
    size_t dash = item.find('-');
    std::string first = item.substr(0, dash), last = dash == std::string::npos ? first : item.substr(dash + 1);
    int from = thumb_register(first), to = thumb_register(last);
    if (from != kNone) {
      for (int r = from; r <= to; ++r) out.registers.push_back(r);
    } else if (first[0] == 's' || first[0] == 'd' || first[0] == 'q') {
      int32_t each = first[0] == 's' ? 4 : first[0] == 'd' ? 8 : 16;
      out.bytes += each * static_cast<int32_t>(number(last) - number(first) + 1);
    } else {
      out.bytes += 4;  // vpr, ra_auth_code
    }
    item.clear();
  };
  for (char c : text) {
    if (c == ',' || c == '}') add();
    else if (c != '{' && c != ' ') item += c;
  }
  out.bytes += 4 * static_cast<int32_t>(out.registers.size());
  return out;
}

struct Memory {
  int base = kNone, index = kNone;
  int64_t offset = 0;
  uint32_t shift = 0;
  bool before = false, after = false;  // writes back
};

// "[sp, #-8]!", "[r3, r2, lsl #2]", and what stands behind "[sp]".
Memory memory_operand(const std::vector<std::string>& operands, size_t at) {
  Memory out;
  std::string text = operands[at];
  size_t close = text.find(']');
  if (text.empty() || text[0] != '[' || close == std::string::npos) return out;
  out.before = text.ends_with("!");
  std::vector<std::string> parts;
  std::string item;
  for (char c : text.substr(1, close - 1) + ",") {
    if (c == ',') {
      parts.push_back(item);
      item.clear();
    } else if (c != ' ' || (!item.empty() && item.find(' ') == std::string::npos)) {
      item += c;
    }
  }
  out.base = thumb_register(parts[0]);
  if (parts.size() > 1) {
    out.index = thumb_register(parts[1]);
    out.offset = number_in(parts[1]).value_or(0);
    if (out.index == kNone && !number_in(parts[1])) out.base = kNone;
  }
  if (parts.size() > 2) {
    const size_t hash = parts[2].find('#');
    out.shift = static_cast<uint32_t>(hash == std::string::npos ? 99 : number_in(parts[2].substr(hash)).value_or(99));
  }
  if (at + 1 < operands.size()) {
    out.after = true;
    out.offset = number_in(operands[at + 1]).value_or(0);
  }
  // No instruction has a larger one.
  if (out.offset < -4096 || out.offset > 4096) out.base = kNone;
  return out;
}

class Thumb : public Semantics {
 public:
  explicit Thumb(const Elf& elf) : elf_(elf) {}

  State at_entry() const override {
    State state;
    state.registers[kLr].kind = Value::Kind::kReturn;
    return state;
  }

  void after_call(State& state) const override {
    for (int r : {0, 1, 2, 3, 12, kLr}) set(state, r, {});
    state.compared = kNone;
    state.forget_variables();
  }

  Step step(const Instruction& i, State& state) const override {
    Step out;
    if (!flow(i, state, out) && !multiple(i, state, out) && !memory(i, state, out)) {
      if (!arithmetic(i, state, out)) other(i, state, out);
    }
    return out;
  }

 private:
  using Flow = Step::Flow;

  static Value get(const State& state, int r) {
    if (r == kSp) return state.sp_known ? Value::stack(state.sp) : Value{};
    return r >= 0 && r < kPc ? state.registers[static_cast<size_t>(r)] : Value{};
  }

  static void set(State& state, int r, const Value& value) {
    if (r >= 0 && r < kSp) state.registers[static_cast<size_t>(r)] = value;
    if (r == kLr) state.registers[kLr] = value;
    if (r == state.compared) state.compared = kNone;
  }

  // Register r becomes the value; sp and pc are what all this is about.
  void assign(const Instruction& i, State& state, int r, const Value& value, Step& out) const {
    if (r == kPc) return jump(value, out);
    if (r != kSp) return set(state, r, value);
    if (state.set_stack(value)) return;
    if (value.is_constant()) {
      out.stack_switched = true;
    } else {
      state.sp_known = false;
      out.problem = fmt::format("'{}{}' sets the stack pointer to an unknown value", i.mnemonic,
                                i.operands.empty() ? "" : " " + i.operands.back());
    }
  }

  static void jump(const Value& to, Step& out) {
    out.flow = to.kind == Value::Kind::kReturn ? Flow::kReturn : Flow::kJump;
    out.target = to;
    if (to.is_constant()) out.target.base &= ~1u;
  }

  static bool condition(std::string_view text) {
    static const std::set<std::string_view> kAll = {"eq", "ne", "cs", "hs", "cc", "lo", "mi", "pl",
                                                    "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le"};
    return kAll.contains(text);
  }

  static Value address_in(const Instruction& i) {
    for (auto it = i.operands.rbegin(); it != i.operands.rend(); ++it) {
      std::string text = *it;
      if (!text.starts_with("0x") && !text.starts_with("#")) text = "0x" + text;
      if (auto to = number_in(text)) return Value::number(static_cast<uint32_t>(*to));
    }
    return {};
  }

  bool flow(const Instruction& i, State& state, Step& out) const {
    const std::string& m = i.mnemonic;
    if (m == "b" || m == "bl" || m == "blx" || m == "bx" || m == "bxns" || m == "blxns") {
      int r = thumb_register(operand(i, 0));
      bool call = m[1] == 'l';
      Value to = r != kNone ? get(state, r) : address_in(i);
      if (r != kNone && to.is_constant()) to.base &= ~1u;
      if (!call) jump(to, out);
      else if (is_case_helper(to)) case_helper(i, state, to, out);
      else called(i, state, to, out);
      if (r == kNone && m == "blx") out.target = {}, out.undecoded = true;
      out.by_register = r != kNone;
      return true;
    }
    if (m == "cbz" || m == "cbnz" || m == "le" || m == "letp" || m == "wls" || m.starts_with("wlstp")) {
      if (m == "wls" || m.starts_with("wlstp")) set(state, kLr, {});
      if (m[0] == 'l') set(state, kLr, {});
      out.flow = Flow::kBranch;
      out.target = address_in(i);
      return true;
    }
    if (m.size() == 3 && m[0] == 'b' && condition(m.substr(1))) {
      out.flow = Flow::kBranch;
      out.target = address_in(i);
      bound(m.substr(1), state, out);
      return true;
    }
    if (m == "tbb" || m == "tbh") return table(i, state, out), true;
    if (m == "udf" || m.starts_with("<") || m == "(bad)") {
      out.flow = Flow::kStop;
      out.undecoded = m != "udf";
      return true;
    }
    return false;
  }

  static void bound(const std::string& condition, const State& state, Step& out) {
    if (state.compared == kNone) return;
    bool strict = condition == "cs" || condition == "hs" || condition == "cc" || condition == "lo";
    bool taken = condition == "ls" || condition == "cc" || condition == "lo";
    if (!strict && !taken && condition != "hi") return;
    if (strict && state.compared_with == 0) return;
    out.bounded = state.compared;
    out.not_above = state.compared_with - (strict ? 1 : 0);
    out.bounded_if_taken = taken;
  }

  // tbb [pc, r0]: bytes behind the instruction, each half a distance.
  void table(const Instruction& i, const State& state, Step& out) const {
    out.flow = Flow::kJump;
    std::string text = operand(i, 0);
    size_t comma = text.find(',');
    if (!text.starts_with("[pc") || comma == std::string::npos) return;
    size_t begin = text.find_first_not_of(' ', comma + 1);
    size_t end = text.find_first_of(",] ", begin);
    Value index = get(state, thumb_register(text.substr(begin, end - begin)));
    const int width = i.mnemonic == "tbb" ? 1 : 2;
    Value at = plus(shifted_left(index, i.mnemonic == "tbb" ? 0 : 1), Value::number(i.next()));
    out.target = plus(shifted_left(loaded(elf_, at, width, false), 1), Value::number(i.next()));
  }

  // libgcc's helpers of v6-M, whose table stands behind the call.
  bool is_case_helper(const Value& to) const {
    const Symbol* s = to.is_constant() ? elf_.function_at(to.base) : nullptr;
    return s != nullptr && s->name.starts_with("__gnu_thumb1_case_");
  }

  void case_helper(const Instruction& i, const State& state, const Value& to, Step& out) const {
    const std::string kind = elf_.function_at(to.base)->name.substr(18);
    out.flow = Flow::kJump;
    const int width = kind == "si" ? 4 : kind.ends_with("qi") ? 1 : 2;
    const bool is_signed = kind[0] == 's' && kind != "si";
    const uint32_t begin = width == 4 ? (i.next() + 2) & ~3u : i.next();
    Value at = plus(shifted_left(get(state, 0), width == 1 ? 0 : width == 2 ? 1 : 2), Value::number(begin));
    Value distance = loaded(elf_, at, width, is_signed);
    out.target =
        width == 4 ? plus(distance, Value::number(begin)) : plus(shifted_left(distance, 1), Value::number(i.next()));
  }

  void called(const Instruction& i, State& state, const Value& to, Step& out) const {
    out.flow = Flow::kCall;
    out.target = to;
    out.inside = is_inside(i, to);
    if (out.inside) set(state, kLr, Value::number(i.next()));
  }

  bool is_inside(const Instruction& i, const Value& to) const {
    const Symbol* here = elf_.function_around(i.address);
    return to.is_constant() && here != nullptr && here->size != 0 && to.base > here->address &&
           to.base - here->address < here->size && elf_.function_at(to.base) == nullptr;
  }

  // push, pop, stmdb sp!, ldmia sp!, and those of other registers.
  bool multiple(const Instruction& i, State& state, Step& out) const {
    const std::string& m = i.mnemonic;
    bool vector = m[0] == 'v';
    std::string plain = vector ? m.substr(1) : m;
    if (plain == "push" || plain == "pop") {
      transfer(i, state, register_list(operand(i, 0)), plain == "push", plain == "push", out);
      return true;
    }
    bool store = plain.starts_with("stm"), load = plain.starts_with("ldm");
    if ((!store && !load) || i.operands.size() < 2) return false;
    std::string base = operand(i, 0);
    bool writes_back = base.ends_with("!");
    if (writes_back) base.pop_back();
    while (base.ends_with(" ")) base.pop_back();
    bool down = plain.ends_with("db") || plain == "stmfd" || plain == "ldmea";
    RegisterList list = register_list(operand(i, 1));
    const int r = thumb_register(base);
    if (writes_back && r == kSp) {
      transfer(i, state, list, down, store, out);
      return true;
    }
    if (writes_back) set(state, r, {});
    if (store) state.forget_variables();
    if (load)
      for (int each : list.registers) assign(i, state, each, {}, out);
    return true;
  }

  void transfer(const Instruction& i, State& state, const RegisterList& list, bool down, bool store, Step& out) const {
    int32_t at = down ? state.sp - list.bytes : state.sp;
    std::vector<std::pair<int, Value>> values;
    for (int r : list.registers) {
      if (store) state.store(at, get(state, r));
      else values.emplace_back(r, state.sp_known ? state.load(at) : Value{});
      at += 4;
    }
    state.sp += down ? -list.bytes : list.bytes;
    for (auto& [r, value] : values) assign(i, state, r, value, out);
  }

  // ldr, str and all with a bracket.
  bool memory(const Instruction& i, State& state, Step& out) const {
    size_t at = 0;
    while (at < i.operands.size() && i.operands[at][0] != '[') ++at;
    if (at == i.operands.size()) return false;
    const std::string& m = i.mnemonic;
    Memory place = memory_operand(i.operands, at);
    const bool store = m.starts_with("st") || m.starts_with("vst");
    const bool plain = m.starts_with("ldr") || m.starts_with("str");
    Value base = place.base == kPc ? Value::number((i.address + 4) & ~3u) : get(state, place.base);
    Value address = place.after ? base : plus(base, offset_of(state, place));
    if (place.base == kSp && (place.before || place.after)) state.sp += static_cast<int32_t>(place.offset);
    else if (place.before || place.after) set(state, place.base, plus(base, offset_of(state, place)));
    if (store) {
      if (m.starts_with("strex") || m.starts_with("stlex")) set(state, thumb_register(i.operands[0]), {});
      stores(i, state, address, at);
    } else if (plain && !m.starts_with("ldrex") && m != "ldrd") {
      Value value = address.is_stack() && m == "ldr" ? state.load(address.offset)
                                                     : loaded(elf_, address, width_of(m), m.starts_with("ldrs"));
      assign(i, state, thumb_register(i.operands[0]), value, out);
      out.by_register = true;
    } else {
      for (size_t n = 0; n < at; ++n) assign_if_register(i, state, n, address, m == "ldrd", out);
    }
    return true;
  }

  void assign_if_register(const Instruction& i, State& state, size_t n, const Value& address, bool pair,
                          Step& out) const {
    int r = thumb_register(i.operands[n]);
    if (r == kNone) return;
    bool ours = pair && address.is_stack();
    assign(i, state, r, ours ? state.load(address.offset + 4 * static_cast<int64_t>(n)) : Value{}, out);
  }

  static void stores(const Instruction& i, State& state, const Value& address, size_t operands) {
    if (!address.is_stack()) return address.is_constant() ? void() : state.forget_variables();
    // vstr of s0 is a word, of d0 two, of a vector's four.
    const char kind = i.operands[0].empty() ? 'q' : i.operands[0][0];
    const int32_t words = i.mnemonic[0] != 'v' ? 0 : kind == 's' ? 1 : kind == 'd' ? 2 : 4;
    for (int32_t n = 0; n < words; ++n) state.store(int64_t{address.offset} + 4 * n, {});
    for (size_t n = 0; n < operands; ++n) {
      bool word = i.mnemonic == "str" || i.mnemonic == "strd";
      state.store(address.offset + 4 * static_cast<int64_t>(n),
                  word ? get(state, thumb_register(i.operands[n])) : Value{});
    }
  }

  static Value offset_of(const State& state, const Memory& place) {
    if (place.index == kNone) return Value::number(static_cast<uint32_t>(place.offset));
    return shifted_left(get(state, place.index), place.shift);
  }

  static int width_of(const std::string& m) { return m.ends_with("b") ? 1 : m.ends_with("h") ? 2 : 4; }

  // "r2", "#12", and "r2, lsl #2" from an operand on.
  static Value value_of(const Instruction& i, const State& state, size_t n) {
    std::string text = operand(i, n);
    if (auto number = number_in(text)) return Value::number(static_cast<uint32_t>(*number));
    int r = thumb_register(text);
    Value value = r == kPc ? Value::number(i.address + 4) : get(state, r);
    std::string shift = operand(i, n + 1);
    if (shift.empty()) return value;
    if (!shift.starts_with("lsl #")) return {};
    return shifted_left(value, static_cast<uint32_t>(number_in(shift.substr(4)).value_or(99)));
  }

  bool arithmetic(const Instruction& i, State& state, Step& out) const {
    const std::string& m = i.mnemonic;
    if (i.operands.size() < 2) return false;
    if (m == "cmp") return compare(i, state), true;
    static const std::map<std::string_view, char> kKinds = {
        {"mov", '='},  {"movs", '='}, {"movw", '='}, {"movt", 't'}, {"mvn", '~'},  {"mvns", '~'},
        {"add", '+'},  {"adds", '+'}, {"addw", '+'}, {"sub", '-'},  {"subs", '-'}, {"subw", '-'},
        {"lsl", '<'},  {"lsls", '<'}, {"and", '&'},  {"ands", '&'}, {"bic", 'c'},  {"bics", 'c'},
        {"uxtb", 'b'}, {"uxth", 'h'}, {"ubfx", 'u'}, {"adr", 'a'}};
    auto found = kKinds.find(m);
    int r = thumb_register(i.operands[0]);
    if (found == kKinds.end() || r == kNone) return false;
    Value value = result(i, state, found->second);
    if (m.ends_with("s")) state.compared = kNone;
    assign(i, state, r, value, out);
    return true;
  }

  static Value result(const Instruction& i, const State& state, char kind) {
    const bool three = i.operands.size() > 2 && !i.operands[2].starts_with("lsl");
    const size_t last = three ? 2 : 1;
    Value left = value_of_register(i, state, three ? 1 : 0, last), right = value_of(i, state, last);
    const uint32_t low = right.is_constant() ? right.base : 0;
    switch (kind) {
      case '=': return three ? Value{} : right;
      case 't': return left.is_constant() ? Value::number((left.base & 0xffffu) | low << 16) : Value{};
      case '~': return right.is_constant() ? Value::number(~low) : Value{};
      case '+': return plus(left, right);
      case '-': return minus(left, right);
      case '<': return right.is_constant() ? shifted_left(left, low) : Value{};
      case '&': return right.is_constant() ? masked(left, low) : Value{};
      case 'c': return right.is_constant() ? masked(left, ~low) : Value{};
      case 'b': return masked(right, 0xffu);
      case 'h': return masked(right, 0xffffu);
      case 'a': return plus(Value::number((i.address + 4) & ~3u), right);
      case 'u': {
        auto width = number_in(operand(i, 3));
        return width && *width < 12 ? Value::up_to((1u << *width) - 1) : Value{};
      }
      default: return {};
    }
  }

  // The left side of a sum: pc is a multiple of four there when a number is added.
  static Value value_of_register(const Instruction& i, const State& state, size_t n, size_t last) {
    int r = thumb_register(operand(i, n));
    if (r == kPc) return Value::number(number_in(operand(i, last)) ? (i.address + 4) & ~3u : i.address + 4);
    return get(state, r);
  }

  static void compare(const Instruction& i, State& state) {
    Value with = value_of(i, state, 1);
    state.compared = with.is_constant() ? thumb_register(i.operands[0]) : kNone;
    state.compared_with = with.base;
  }

  void other(const Instruction& i, State& state, Step& out) const {
    static const std::set<std::string_view> kNoResult = {"cmn", "tst",  "teq", "nop",  "msr", "cpsid", "cpsie",
                                                         "svc", "bkpt", "pld", "pli",  "dmb", "dsb",   "isb",
                                                         "mcr", "mcrr", "cdp", "vmsr", "cpy"};
    const std::string& m = i.mnemonic;
    if (m == "svc") out.assumption = "the handler of svc is not counted: add it with --interrupts";
    if (m == "msr" && operand(i, 0) == "msp") {
      out.problem = "an instruction sets the main stack pointer";
      state.sp_known = false;
    }
    if (m == "cmn" || m == "tst" || m == "vmrs" || m == "teq" || (m.ends_with("s") && !m.starts_with("v")))
      state.compared = kNone;
    if (kNoResult.contains(m)) return;
    // Long results have two registers; instructions of vectors write where they like.
    static const std::set<std::string_view> kTwo = {"umull", "smull", "umlal", "smlal",  "umaal", "mrrc",
                                                    "asrl",  "lsll",  "lsrl",  "umulls", "asrll"};
    const bool many = m[0] == 'v' || kTwo.contains(m) || m.starts_with("smlal") || m.starts_with("smlsl") ||
                      m.ends_with("l") || m.ends_with("ll");
    const size_t results = many ? i.operands.size() : std::min<size_t>(1, i.operands.size());
    for (size_t n = 0; n < results; ++n) {
      int r = thumb_register(i.operands[n]);
      if (r == kNone || (r == kSp && n > 0)) continue;
      assign(i, state, r, {}, out);
    }
    if (m.starts_with("dls")) set(state, kLr, {});
  }

  const Elf& elf_;
};

}  // namespace

std::unique_ptr<Semantics> thumb_semantics(const Elf& elf) { return std::make_unique<Thumb>(elf); }

}  // namespace aotc::machine
