// SPDX-License-Identifier: Apache-2.0
// Reads instructions from assembly text: the output of objdump, and aotc's own kernels.
#include <algorithm>
#include <cctype>
#include <utility>

#include "machine/instruction.h"
#include "machine/value.h"

namespace aotc::machine {

namespace {

// Splits at commas outside of brackets and braces, in lower case and without comments: "8010 <memcpy>".
std::vector<std::string> split_operands(Isa isa, std::string_view text) {
  for (const char* mark : {"\t@", " @", ";", " <", "//"}) text = text.substr(0, text.find(mark));
  if (isa == Isa::kRiscv) text = text.substr(0, text.find('#'));
  std::vector<std::string> out(1);
  int depth = 0;
  for (char c : text) {
    depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
    if (c == ',' && depth == 0) out.emplace_back();
    else if (c != '\t' && c != '\r' && (c != ' ' || !out.back().empty()))
      out.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  for (std::string& item : out)
    while (item.ends_with(' ')) item.pop_back();
  if (out.back().empty()) out.pop_back();
  return out;
}

// Returns the text between the brackets: "r0, r1" for "[r0, r1]!".
std::string_view inside(std::string_view text, std::string_view brackets) {
  const size_t open = text.find(brackets[0]), close = text.find(brackets[1]);
  return open == text.npos || close == text.npos || close < open ? "" : text.substr(open + 1, close - open - 1);
}

// Returns the index of a word in a list; kUnknownRegister if the list does not have it.
int position_in(std::string_view list, std::string_view name) {
  int out = 0;
  for (size_t at = 0; at < list.size(); ++out) {
    const size_t end = std::min(list.find(' ', at), list.size());
    if (list.substr(at, end - at) == name) return out;
    at = end + 1;
  }
  return kUnknownRegister;
}

// Returns `first` + 7 for "r7".
int numbered(std::string_view name, int first, int count) {
  const auto number = number_in(std::string(name.substr(1)));
  return number && *number >= 0 && *number < count ? first + static_cast<int>(*number) : kUnknownRegister;
}

int thumb_register(std::string_view name) {
  static constexpr std::string_view kNames = "r0 r1 r2 r3 r4 r5 r6 r7 r8 sb sl fp ip sp lr pc";
  const int r = position_in(kNames, name), n = r != kUnknownRegister ? r : numbered(name, 0, 16);
  if (r != kUnknownRegister || name[0] == 'r') return n == 15 ? kPc : n;
  if (name[0] == 's') return numbered(name, kSingles, 32);
  // "q0[2]" is a lane of the vector q0, "d3[1]" one of q1.
  const std::string_view whole = name.substr(0, name.find('['));
  if (name[0] == 'q') return numbered(whole, kVectors, 8);
  const int d = name[0] == 'd' ? numbered(whole, kDoubles, 32) : kUnknownRegister;
  return d < 0 || whole == name ? d : kVectors + (d - kDoubles) / 2;
}

int riscv_register(std::string_view name) {
  static constexpr std::string_view kNames =
      "zero ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6";
  static constexpr std::string_view kFloats =
      "ft0 ft1 ft2 ft3 ft4 ft5 ft6 ft7 fs0 fs1 fa0 fa1 fa2 fa3 fa4 fa5 fa6 fa7 fs2 fs3 fs4 fs5 fs6 fs7 fs8 fs9 fs10 "
      "fs11 ft8 ft9 ft10 ft11";
  if (name[0] == 'x') return numbered(name, 0, 32);
  if (name == "fp") return 8;
  const int r = position_in(kNames, name), f = position_in(kFloats, name);
  return f != kUnknownRegister ? kSingles + f : r;
}

}  // namespace

int register_of(Isa isa, std::string_view name) {
  if (name.empty()) return kUnknownRegister;
  if (isa == Isa::kThumb) return thumb_register(name);
  return isa == Isa::kRiscv ? riscv_register(name) : name[0] == 'r' ? numbered(name, 0, 32) : kUnknownRegister;
}

namespace {

// "r4, r6-r8, lr"; "d8-d9".
std::vector<int> register_list(Isa isa, std::string_view list) {
  std::vector<int> out;
  for (const std::string& item : split_operands(isa, list)) {
    const size_t dash = std::min(item.find('-'), item.size());
    const int first = register_of(isa, item.substr(0, dash));
    const int last = dash < item.size() ? register_of(isa, item.substr(dash + 1)) : first;
    for (int r = first; r >= 0 && r <= last; ++r)
      if (isa != Isa::kRiscv || r < 10 || r > 17) out.push_back(r);  // s0-s11 are x8, x9 and x18 to x27
  }
  return out;
}

// "[sp, #-8]!", "[r3, r2, lsl #2]".
Memory thumb_memory(std::string_view text) {
  Memory out;
  const auto parts = split_operands(Isa::kThumb, inside(text, "[]"));
  out.base = parts.empty() ? kUnknownRegister : thumb_register(parts[0]);
  if (text.ends_with('!')) out.update = Memory::Update::kBefore;
  if (parts.size() < 2) return out;
  const auto number = number_in(parts[1]);
  if (number) out.offset = *number;
  else out.index = register_of(Isa::kThumb, parts[1]);
  const size_t hash = parts.size() > 2 ? parts[2].find('#') : std::string::npos;
  if (hash != std::string::npos) out.shift = static_cast<uint32_t>(number_in(parts[2].substr(hash)).value_or(99));
  return out;
}

// "12(sp)", "(a0)".
Memory riscv_memory(const std::string& text) {
  Memory out;
  const size_t open = text.find('(');
  const auto offset = open == 0 ? 0 : number_in(text.substr(0, open));
  out.base = offset ? riscv_register(inside(text, "()")) : kUnknownRegister;
  out.offset = offset.value_or(0);
  return out;
}

// "Z", "X+", "-Y", "Y+4".
Memory avr_memory(std::string_view text) {
  Memory out;
  const size_t at = text.find_first_of("xyz");
  out.base = 26 + 2 * (text[at] - 'x');
  if (at == 1) out = {.base = out.base, .offset = -1, .update = Memory::Update::kBefore};
  else if (text.ends_with('+')) out = {.base = out.base, .offset = 1, .update = Memory::Update::kAfter};
  else if (at + 1 < text.size()) out.offset = number_in(std::string(text.substr(at + 1))).value_or(0);
  return out;
}

// Returns the target of a jump: "8010", or ".+12" of AVR.
std::optional<int64_t> target_in(Isa isa, const std::string& text, uint32_t next) {
  const bool relative = text.starts_with('.'), hex = isa != Isa::kAvr && !text.starts_with("0x");
  const auto number = number_in(relative ? text.substr(1) : hex ? "0x" + text : text);
  return number ? std::optional(int64_t{static_cast<uint32_t>(*number) + (relative ? next : 0)}) : std::nullopt;
}

class Reading {
 public:
  Reading(Isa isa, std::string_view name, const Opcode& opcode, std::vector<std::string> operands, Instruction& i)
      : isa_(isa), name_(name), operands_(std::move(operands)), i_(i), results_(results_of(opcode)) {
    const bool list = operands_.size() > 1 && operands_.back().starts_with('{');
    for (size_t n = 0; n < operands_.size(); ++n)
      if (list && n == 0 && (i.op == Op::kLoad || i.op == Op::kStore)) base(operands_[0]);
      else if (!operands_[n].empty()) read(n, operands_[n]);
    // Only shifts to the left by a number are analysed.
    if (other_shift_ && i_.op == Op::kMove) i_.op = Op::kBinary;
    if (other_shift_ && !i_.reads.empty() && i_.op != Op::kOther && i_.op != Op::kBinary)
      i_.reads.back() = {kUnknownRegister};
    if (isa_ == Isa::kRiscv && i_.op == Op::kCall && results_ == 0) i_.writes = {1};
  }

 private:
  size_t results_of(const Opcode& opcode) const {
    const size_t count = operands_.size();
    if (opcode.results == Opcode::kPair) return 1;
    if (opcode.results == Opcode::kProduct) return 0;
    if (isa_ == Isa::kRiscv && i_.op == Op::kCall && count == 1) return 0;
    // Two core registers, such as "vmov r0, r1, d0" and "vmlaldav.s16 r0, r1, q0, q1".
    const auto is_core = [&](size_t n) {
      const int r = n < count ? register_of(isa_, operands_[n]) : kUnknownRegister;
      return r >= 0 && r <= kPc;
    };
    if (isa_ == Isa::kThumb && name_[0] == 'v' && opcode.results == 1 &&
        ((name_.starts_with("vmov") && count == 4) || (is_core(0) && is_core(1))))
      return 2;
    return static_cast<size_t>(opcode.results);
  }

  void put(size_t n, int r) {
    if (n < results_) i_.writes.push_back(r);
    else i_.reads.push_back({r});
  }

  void base(std::string_view text) {
    if (text.ends_with('!')) i_.memory.update = Memory::Update::kBefore;
    i_.memory.base = register_of(isa_, text.substr(0, text.find_first_of("! ")));
  }

  // A jump to a register has a name of its own.
  bool is_target(size_t n) const {
    const bool goes = i_.op == Op::kJump || i_.op == Op::kCall || i_.op == Op::kBranch;
    return goes && n + 1 == operands_.size() && !name_.starts_with("bx") && !name_.starts_with("blx") &&
           name_ != "jr" && name_ != "jalr";
  }

  void read(size_t n, const std::string& text) {
    const bool accesses = i_.op == Op::kLoad || i_.op == Op::kStore || i_.op == Op::kLoadProgram;
    const auto target = is_target(n) ? target_in(isa_, text, i_.next()) : std::nullopt;
    const auto number = isa_ == Isa::kRiscv && text == "vlenb" ? std::optional<int64_t>(kVlenb) : number_in(text);
    const int r = register_of(isa_, text);
    if (target) {
      i_.reads.push_back({kNoRegister, *target});
    } else if (text[0] == '{') {
      for (int each : register_list(isa_, inside(text, "{}"))) put(n, each);
    } else if (text[0] == '[') {
      i_.memory = thumb_memory(text);
      in_memory_ = true;
    } else if (isa_ == Isa::kRiscv && text.ends_with(')')) {
      address(riscv_memory(text));
    } else if (isa_ == Isa::kAvr && accesses && !number && text.find_first_of("xyz") < 2) {
      i_.memory = avr_memory(text);
    } else if (r >= 0) {
      put(n, r);
    } else if (number && (in_memory_ || (isa_ == Isa::kAvr && accesses))) {
      i_.memory.offset = *number;
      if (in_memory_) i_.memory.update = Memory::Update::kAfter;
    } else if (number) {
      i_.reads.push_back({kNoRegister, *number});
    } else if (text.starts_with("lsl #")) {
      i_.shift = static_cast<uint32_t>(number_in(text.substr(4)).value_or(99));
    } else {
      other_shift_ = other_shift_ || text.find('#') < text.size() || text == "rrx";
    }
  }

  // Sets the address of a load or store, or the target of a jump to a register.
  void address(const Memory& memory) {
    if (i_.op != Op::kJump && i_.op != Op::kCall) i_.memory = memory;
    else i_.reads = {{memory.base}, {kNoRegister, memory.offset}};
  }

  Isa isa_;
  std::string_view name_;
  std::vector<std::string> operands_;
  Instruction& i_;
  size_t results_;
  bool in_memory_ = false, other_shift_ = false;
};

}  // namespace

Instruction parse_instruction(Isa isa, uint32_t address, uint32_t size, std::string_view mnemonic,
                              std::string_view operands) {
  Instruction out;
  out.address = address;
  out.size = size;
  const std::string name = name_of(isa, mnemonic);
  const Opcode opcode = begin(isa, name, out);
  Reading(isa, name, opcode, split_operands(isa, operands), out);
  if (name == "msr" && operands.find("MSP") < 2) out.op = Op::kSetStack;
  // "vmrs APSR_nzcv, fpscr".
  if (name == "vmrs" && out.writes.empty()) out.sets_flags = true;
  complete(isa, name, opcode, out);
  return out;
}

}  // namespace aotc::machine
