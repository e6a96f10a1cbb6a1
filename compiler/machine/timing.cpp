// SPDX-License-Identifier: Apache-2.0
#include "machine/timing.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

namespace aotc::machine {

namespace {

using namespace std::literals;  // NOLINT: names of instructions

template <size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// "beq", not "bic": a branch by its condition.
bool is_conditional_branch(std::string_view name) {
  static constexpr std::array conditions = {"eq"sv, "ne"sv, "cs"sv, "hs"sv, "cc"sv, "lo"sv, "mi"sv, "pl"sv,
                                            "vs"sv, "vc"sv, "hi"sv, "ls"sv, "ge"sv, "lt"sv, "gt"sv, "le"sv};
  return name.size() == 3 && name[0] == 'b' && is_one_of(name.substr(1), conditions);
}

bool writes_pc(const Instruction& i) {
  return !i.operands.empty() && (operand(i, 0) == "pc" || i.operands.back().find("pc}") != std::string::npos);
}

// Helium has letters for lanes where the floating-point unit has the type only: vldrb.u8, vmla.i16.
bool is_vector_access(std::string_view name) {
  return name.size() > 4 && (name.starts_with("vldr") || name.starts_with("vstr")) &&
         (name[4] == 'b' || name[4] == 'h' || name[4] == 'w' || name[4] == 'd');
}

bool uses_vectors(const Instruction& i) {
  return std::any_of(i.operands.begin(), i.operands.end(), [](const std::string& o) {
    const size_t at = o.find('q');
    return at != std::string::npos && at < 2 && o.size() > at + 1 && o[at + 1] >= '0' && o[at + 1] <= '7';
  });
}

Kind vector_kind(const Instruction& i) {
  const std::string_view name = i.mnemonic;
  if (is_vector_access(name) || name.starts_with("vld2") || name.starts_with("vld4") || name.starts_with("vst2") ||
      name.starts_with("vst4"))
    return name[1] == 'l' ? Kind::kVectorLoad : Kind::kVectorStore;
  if (uses_vectors(i) || name.starts_with("vmladav") || name.starts_with("vaddv") || name.starts_with("vpt") ||
      name.starts_with("vctp") || name.starts_with("vpst") || name.starts_with("vrmla"))
    return name.starts_with("vml") || name.starts_with("vmul") || name.starts_with("vrmla") ||
                   name.starts_with("vfm") || name.find("dmul") != std::string_view::npos
               ? Kind::kVectorMultiply
               : Kind::kVector;
  if (name.starts_with("vldm") || name.starts_with("vpop")) return Kind::kFloatLoadMany;
  if (name.starts_with("vstm") || name.starts_with("vpush")) return Kind::kFloatStoreMany;
  if (name.starts_with("vldr")) return Kind::kFloatLoad;
  if (name.starts_with("vstr")) return Kind::kFloatStore;
  if (name.starts_with("vdiv") || name.starts_with("vsqrt")) return Kind::kFloatDivide;
  const bool fused = name.starts_with("vmla") || name.starts_with("vmls") || name.starts_with("vnml") ||
                     name.starts_with("vfma") || name.starts_with("vfms") || name.starts_with("vfnm");
  return fused ? Kind::kFloatMultiplyAdd : Kind::kFloat;
}

Kind thumb_multiply(std::string_view name) {
  if (name.starts_with("smlal") || name.starts_with("umlal") || name.starts_with("smlsl") || name == "umaal")
    return Kind::kLongAdd;
  if (name.starts_with("smull") || name.starts_with("umull") || name.starts_with("smmu")) return Kind::kLong;
  if (name.starts_with("smmla") || name.starts_with("smmls")) return Kind::kLongAdd;
  if (name.starts_with("mla") || name == "mls" || name.starts_with("smla") || name.starts_with("smls"))
    return Kind::kMultiplyAdd;
  if (name == "mul" || name == "muls" || name.starts_with("smul") || name.starts_with("smua") ||
      name.starts_with("smus"))
    return Kind::kMultiply;
  return name == "sdiv" || name == "udiv" ? Kind::kDivide : Kind::kAlu;
}

Kind thumb_kind(const Instruction& i) {
  const std::string_view name = i.mnemonic;
  static constexpr std::array branches = {"b"sv, "bx"sv, "cbz"sv, "cbnz"sv, "tbb"sv, "tbh"sv};
  if (name[0] == 'v') return vector_kind(i);
  if (name == "bl" || name == "blx" || name == "blxns") return Kind::kCall;
  if (is_one_of(name, branches) || is_conditional_branch(name)) return Kind::kBranch;
  if (name == "le" || name == "letp") return Kind::kLoopEnd;
  if (name.starts_with("ldm") || name == "pop") return Kind::kLoadMany;
  if (name.starts_with("stm") || name == "push") return Kind::kStoreMany;
  if (name == "ldrd") return Kind::kLoadPair;
  if (name == "strd") return Kind::kStorePair;
  if (name.starts_with("ldr")) return Kind::kLoad;
  if (name.starts_with("str")) return Kind::kStore;
  return thumb_multiply(name);
}

Kind riscv_kind(const Instruction& i) {
  std::string_view name = i.mnemonic;
  if (name.starts_with("c.")) name.remove_prefix(2);
  static constexpr std::array loads = {"lb"sv, "lh"sv, "lw"sv, "lbu"sv, "lhu"sv, "flw"sv, "lwsp"sv, "lr.w"sv};
  static constexpr std::array stores = {"sb"sv, "sh"sv, "sw"sv, "fsw"sv, "swsp"sv, "sc.w"sv};
  static constexpr std::array highs = {"mulh"sv, "mulhu"sv, "mulhsu"sv};
  static constexpr std::array jumps = {"j"sv, "jr"sv, "ret"sv, "beqz"sv, "bnez"sv, "mret"sv};
  if (is_one_of(name, loads)) return Kind::kLoad;
  if (is_one_of(name, stores)) return Kind::kStore;
  if (name == "mul") return Kind::kMultiply;
  if (is_one_of(name, highs)) return Kind::kLong;
  if (name.starts_with("div") || name.starts_with("rem")) return Kind::kDivide;
  if (name.starts_with("jal")) return Kind::kCall;
  if (is_one_of(name, jumps) || (name[0] == 'b' && name != "bset" && name != "bclr")) return Kind::kBranch;
  return Kind::kAlu;
}

// The registers that an address is made of, with what stands beside them.
bool address_reads(Isa isa, const Instruction& i, const std::string& loaded) {
  for (size_t o = 1; o < i.operands.size(); ++o) {
    const std::string& text = i.operands[o];
    const size_t open = text.find(isa == Isa::kThumb ? '[' : '(');
    if (open == std::string::npos) continue;
    for (size_t at = text.find(loaded, open); at != std::string::npos; at = text.find(loaded, at + 1)) {
      const char behind = at + loaded.size() < text.size() ? text[at + loaded.size()] : ']';
      const char ahead = text[at - 1];
      if ((behind < '0' || behind > '9') && (ahead == '[' || ahead == ' ' || ahead == '(' || ahead == ',')) return true;
    }
  }
  return false;
}

bool reads_result(const Instruction& reader, const std::string& result) {
  for (size_t o = 0; o < reader.operands.size(); ++o)
    if (reader.operands[o] == result &&
        (o > 0 || reader.mnemonic.starts_with("vstr") || reader.mnemonic.starts_with("vcmp")))
      return true;
  return false;
}

// Vectors are loaded and stored, multiplied, or anything else, each at the same time as the others.
int unit_of(Kind kind) {
  switch (kind) {
    case Kind::kVectorLoad:
    case Kind::kVectorStore: return 1;
    case Kind::kVectorMultiply: return 2;
    case Kind::kVector: return 3;
    default: return 0;
  }
}

double float_cycles(const Timing& t, Kind kind, const Instruction& i, const Instruction* behind) {
  const double own = kind == Kind::kFloatDivide        ? t.float_divide
                     : kind == Kind::kFloatMultiplyAdd ? t.float_multiply_add
                                                       : t.float_op;
  return own + (behind != nullptr && reads_result(*behind, operand(i, 0)) ? t.float_wait : 0);
}

double load_cycles(const Timing& t, Isa isa, const Instruction& i, const Instruction* before) {
  if (before == nullptr || kind_of(isa, *before) != Kind::kLoad || address_reads(isa, i, operand(*before, 0)))
    return t.load;
  return t.next_load;
}

double own_cycles(const Timing& t, Isa isa, Kind kind, const Instruction& i, const Instruction* before,
                  const Instruction* behind) {
  switch (kind) {
    case Kind::kLoad: return load_cycles(t, isa, i, before);
    case Kind::kStore: return t.store;
    case Kind::kLoadPair: return t.load_pair;
    case Kind::kStorePair: return t.store_pair;
    case Kind::kLoadMany:
    case Kind::kStoreMany:
    case Kind::kFloatLoadMany:
    case Kind::kFloatStoreMany: return t.many + t.each * registers_in(i.operands.empty() ? "" : i.operands.back());
    case Kind::kMultiply: return t.multiply;
    case Kind::kMultiplyAdd: return t.multiply_add;
    case Kind::kLong: return t.long_multiply;
    case Kind::kLongAdd: return t.long_add;
    case Kind::kDivide: return t.divide;
    case Kind::kCall: return t.alu + t.call;
    case Kind::kLoopEnd: return 0;
    case Kind::kFloat:
    case Kind::kFloatMultiplyAdd:
    case Kind::kFloatDivide: return float_cycles(t, kind, i, behind);
    case Kind::kFloatLoad: return t.float_load;
    case Kind::kFloatStore: return t.float_store;
    case Kind::kVectorLoad:
    case Kind::kVectorStore:
    case Kind::kVectorMultiply:
    case Kind::kVector: {
      const int next = behind == nullptr ? 0 : unit_of(kind_of(isa, *behind));
      return next != 0 && next != unit_of(kind) ? t.vector_before_other : t.vector;
    }
    case Kind::kAlu:
    case Kind::kBranch: break;
  }
  return t.alu;
}

}  // namespace

int registers_in(const std::string& list) {
  int out = 0;
  size_t at = list.find('{');
  while (at != std::string::npos && at + 1 < list.size()) {
    const size_t end = std::min(list.find_first_of(",}", at + 1), list.size());
    const std::string item = list.substr(at + 1, end - at - 1);
    const size_t dash = item.find('-');
    auto number = [&](size_t from) {
      const size_t digit = item.find_first_of("0123456789", from);
      return digit == std::string::npos ? 0 : std::atoi(item.c_str() + digit);
    };
    out += dash == std::string::npos ? 1 : std::max(1, number(dash) - number(0) + 1);
    at = end < list.size() && list[end] == ',' ? end : std::string::npos;
  }
  return out;
}

Kind kind_of(Isa isa, const Instruction& i) {
  if (i.mnemonic.empty()) return Kind::kAlu;
  return isa == Isa::kThumb ? thumb_kind(i) : riscv_kind(i);
}

bool is_load(Kind kind) {
  return kind == Kind::kLoad || kind == Kind::kLoadPair || kind == Kind::kLoadMany || kind == Kind::kFloatLoad ||
         kind == Kind::kFloatLoadMany || kind == Kind::kVectorLoad;
}

bool is_store(Kind kind) {
  return kind == Kind::kStore || kind == Kind::kStorePair || kind == Kind::kStoreMany || kind == Kind::kFloatStore ||
         kind == Kind::kFloatStoreMany || kind == Kind::kVectorStore;
}

bool is_multiply(Kind kind) {
  return kind == Kind::kMultiply || kind == Kind::kMultiplyAdd || kind == Kind::kLong || kind == Kind::kLongAdd ||
         kind == Kind::kFloatMultiplyAdd || kind == Kind::kVectorMultiply;
}

bool is_branch(Kind kind) { return kind == Kind::kBranch || kind == Kind::kCall || kind == Kind::kLoopEnd; }

InstructionCost cost_of(const Timing& timing, Isa isa, const Instruction& i, const Instruction* before,
                        const Instruction* behind) {
  InstructionCost out;
  out.kind = kind_of(isa, i);
  out.cycles = own_cycles(timing, isa, out.kind, i, before, behind);
  if (is_load(out.kind) && writes_pc(i)) out.taken = timing.load_refill;
  else if (out.kind != Kind::kLoopEnd) out.taken = is_branch(out.kind) || writes_pc(i) ? timing.refill : 0;
  return out;
}

}  // namespace aotc::machine
