// SPDX-License-Identifier: Apache-2.0
#include "machine/timing.h"

#include <algorithm>

namespace aotc::machine {

namespace {

bool writes(const Instruction& i, int reg) {
  return std::find(i.writes.begin(), i.writes.end(), reg) != i.writes.end();
}

bool address_reads(const Instruction& i, int reg) { return i.memory.base == reg || i.memory.index == reg; }

// Stores and compares read a result late enough.
bool reads_result(const Instruction& reader, int result) {
  const bool late = (is_store(reader.kind) && reader.kind != Kind::kFloatStore) || reader.op == Op::kCompare;
  return !late && std::find(reader.reads.begin(), reader.reads.end(), Operand{result}) != reader.reads.end();
}

double float_cycles(const Timing& t, const Instruction& i, const Instruction* behind) {
  const double own = i.kind == Kind::kFloatDivide        ? t.float_divide
                     : i.kind == Kind::kFloatMultiplyAdd ? t.float_multiply_add
                                                         : t.float_op;
  return own + (behind != nullptr && !i.writes.empty() && reads_result(*behind, i.writes[0]) ? t.float_wait : 0);
}

double load_cycles(const Timing& t, const Instruction& i, const Instruction* before) {
  if (before == nullptr || before->kind != Kind::kLoad) return t.load;
  if (!before->writes.empty() && address_reads(i, before->writes[0])) return t.load;
  return t.next_load;
}

double own_cycles(const Timing& t, const Instruction& i, const Instruction* before, const Instruction* behind) {
  const auto registers = static_cast<double>(i.op == Op::kLoad ? i.writes.size() : i.reads.size());
  switch (i.kind) {
    case Kind::kLoad: return load_cycles(t, i, before);
    case Kind::kStore: return t.store;
    case Kind::kLoadPair: return t.load_pair;
    case Kind::kStorePair: return t.store_pair;
    case Kind::kLoadMany:
    case Kind::kStoreMany:
    case Kind::kFloatLoadMany:
    case Kind::kFloatStoreMany: return t.many + t.each * registers;
    case Kind::kMultiply: return t.multiply;
    case Kind::kMultiplyAdd: return t.multiply_add;
    case Kind::kLong: return t.long_multiply;
    case Kind::kLongAdd: return t.long_add;
    case Kind::kDivide: return t.divide;
    case Kind::kCall: return t.alu + t.call;
    case Kind::kLoopEnd: return 0;
    case Kind::kFloat:
    case Kind::kFloatMultiplyAdd:
    case Kind::kFloatDivide: return float_cycles(t, i, behind);
    case Kind::kFloatLoad: return t.float_load;
    case Kind::kFloatStore: return t.float_store;
    case Kind::kVectorLoad:
    case Kind::kVectorStore:
    case Kind::kVectorMultiply:
    case Kind::kVector: {
      const int next = behind == nullptr ? 0 : unit_of(behind->kind);
      return next != 0 && next != unit_of(i.kind) ? t.vector_before_other : t.vector;
    }
    case Kind::kAlu:
    case Kind::kBranch: break;
  }
  return t.alu;
}

}  // namespace

int unit_of(Kind kind) {
  switch (kind) {
    case Kind::kVectorLoad:
    case Kind::kVectorStore: return 1;
    case Kind::kVectorMultiply: return 2;
    case Kind::kVector: return 3;
    default: return 0;
  }
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

InstructionCost cost_of(const Timing& timing, const Instruction& i, const Instruction* before,
                        const Instruction* behind) {
  InstructionCost out;
  out.kind = i.kind;
  out.cycles = own_cycles(timing, i, before, behind);
  if (is_load(i.kind) && writes(i, kPc)) out.taken = timing.load_refill;
  else if (i.kind != Kind::kLoopEnd) out.taken = is_branch(i.kind) || writes(i, kPc) ? timing.refill : 0;
  return out;
}

}  // namespace aotc::machine
