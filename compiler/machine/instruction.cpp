// SPDX-License-Identifier: Apache-2.0
#include "machine/instruction.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <span>
#include <utility>

namespace aotc::machine {

namespace {

constexpr int kAll = Opcode::kAll;

// The first row that has the name is used; "*" matches any rest of the name.
constexpr Opcode kThumb[] = {
    {"b bx*", Op::kJump, Kind::kBranch, 0},
    {"bl blx*", Op::kCall, Kind::kCall, 0},
    {"cbz cbnz", Op::kBranch, Kind::kBranch, 0},
    {"beq bne bcs bhs bcc blo bmi bpl bvs bvc bhi bls bge blt bgt ble", Op::kBranch, Kind::kBranch, 0},
    {"le letp", Op::kBranch, Kind::kLoopEnd},
    {"wls*", Op::kBranch},
    {"tbb tbh", Op::kTable, Kind::kBranch},
    {"udf", Op::kStop},
    {"svc", Op::kSupervisorCall},
    {"mrs dls*"},
    {"mrc* mrrc*", Op::kOther, Kind::kAlu, kAll},
    {"cdp* ldc* stc* mcr*", Op::kCoprocessor, Kind::kAlu, 0},
    {"cmp", Op::kCompare, Kind::kAlu, 0},
    {"cmn tst teq aut*", Op::kOther, Kind::kAlu, 0},
    {"movt", Op::kMoveTop},
    {"mvn", Op::kNot},
    {"lsl", Op::kShiftLeft},
    {"bic", Op::kAndNot},
    {"ubfx", Op::kExtract},
    {"adc sbc orr eor lsr asr ror rrx bfi bfc sqrshr sqshl srshr uqrshl uqshl urshr", Op::kBinary},
    {"pop ldm*", Op::kLoad, Kind::kLoadMany, kAll},
    {"push stm*", Op::kStore, Kind::kStoreMany, 0},
    {"ldrd", Op::kLoad, Kind::kLoadPair, kAll},
    {"ldr* lda*", Op::kLoad, Kind::kLoad, kAll},
    {"strd", Op::kStore, Kind::kStorePair, 0},
    {"strex* stlex*", Op::kStore, Kind::kStore},
    {"str* stl*", Op::kStore, Kind::kStore, 0},
    {"smlal* umlal* smlsl* umaal", Op::kOther, Kind::kLongAdd, 2},
    {"smull* umull*", Op::kOther, Kind::kLong, 2},
    {"smmu*", Op::kOther, Kind::kLong},
    {"smmla* smmls*", Op::kOther, Kind::kLongAdd},
    {"mla mls smla* smls*", Op::kOther, Kind::kMultiplyAdd},
    {"mul", Op::kBinary, Kind::kMultiply},
    {"smul* smua* smus*", Op::kOther, Kind::kMultiply},
    {"sdiv udiv", Op::kOther, Kind::kDivide},
    {"asrl lsll lsrl sqrshrl sqshll srshrl uqrshll uqshll urshrl", Op::kOther, Kind::kAlu, 2},
    // Helium has letters for lanes where the floating-point unit has the type only: vldrb.u8.
    {"vldrb* vldrh* vldrw* vldrd* vld2* vld4*", Op::kLoad, Kind::kVectorLoad, kAll},
    {"vstrb* vstrh* vstrw* vstrd* vst2* vst4*", Op::kStore, Kind::kVectorStore, 0},
    {"vpt* vpst* vctp*", Op::kOther, Kind::kVector, 0},
    {"vidup* vddup* viwdup* vdwdup* vshlc*", Op::kOther, Kind::kVector, 2},
    {"vmladav* vaddv* vrmla*", Op::kOther, Kind::kVector},
    {"vpop vldm*", Op::kLoad, Kind::kFloatLoadMany, kAll},
    {"vpush vstm*", Op::kStore, Kind::kFloatStoreMany, 0},
    {"vldr*", Op::kLoad, Kind::kFloatLoad, kAll},
    {"vstr*", Op::kStore, Kind::kFloatStore, 0},
    {"vcmp* vlstm vlldm", Op::kOther, Kind::kFloat, 0},
    {"vdiv* vsqrt*", Op::kOther, Kind::kFloatDivide},
    {"vmla* vmls* vnml* vfma* vfms* vfnm*", Op::kOther, Kind::kFloatMultiplyAdd},
    {"v*", Op::kOther, Kind::kFloat}};

constexpr Opcode kRiscv[] = {
    {"lb lbu lh lhu lw flw lr.w*", Op::kLoad, Kind::kLoad, kAll},
    {"fld cm.pop*", Op::kLoad, Kind::kAlu, kAll},
    {"amo*", Op::kLoad},
    {"vse8* vse1* vse3* vse6* vsse* vsux* vsox* vs1r* vs2r* vs4r* vs8r* vsm*", Op::kCoprocessor, Kind::kAlu, 0},
    {"sb sh sw fsw", Op::kStore, Kind::kStore, 0},
    {"sc.w*", Op::kStore, Kind::kStore},
    {"fsd cm.push", Op::kStore, Kind::kAlu, 0},
    {"mul", Op::kMultiply, Kind::kMultiply},
    {"csrr csrrs", Op::kVectorBytes},  // of VLENB only
    {"mulh*", Op::kOther, Kind::kLong},
    {"div* rem*", Op::kOther, Kind::kDivide},
    {"jal jalr", Op::kCall, Kind::kCall},
    {"j jr ret", Op::kJump, Kind::kBranch, 0},
    {"mret sret uret", Op::kReturn, Kind::kBranch},
    {"beq* bne* blt* bge* bgt* ble*", Op::kBranch, Kind::kBranch, 0},
    {"unimp", Op::kStop},
    {"ecall", Op::kSupervisorCall},
    {"lui auipc", Op::kMoveHigh},
    {"sll slli", Op::kShiftLeft},
    {"or xor srli srai", Op::kBinary},
    {"sfence*", Op::kOther, Kind::kAlu, 0}};

// Rows of all ISAs. The ISA's own table is searched first.
constexpr Opcode kCommon[] = {{"nop", Op::kNop},
                              {"mov movw mv li ldi adr", Op::kMove},
                              {"add addw addi addi16 addi4spn sh1add sh2add sh3add", Op::kAdd},
                              {"sub subw subi", Op::kSubtract},
                              {"and andi", Op::kAnd},
                              {"uxtb zext.b", Op::kLowByte},
                              {"uxth zext.h", Op::kLowHalf}};

// AVR has no Timing, so the kinds do not matter.
constexpr Opcode kAvr[] = {{"ret reti", Op::kReturn},
                           {"call rcall icall eicall", Op::kCall},
                           {"jmp rjmp ijmp eijmp", Op::kJump},
                           {"cpse sbrc sbrs sbic sbis", Op::kSkip, Kind::kAlu, 0},
                           {"break", Op::kStop},
                           {"br*", Op::kBranch},
                           {"push st std sts", Op::kStore, Kind::kAlu, 0},
                           {"pop ld ldd lds elpm", Op::kLoad, Kind::kAlu, kAll},
                           {"lpm", Op::kLoadProgram},
                           {"in", Op::kIn},
                           {"out", Op::kOut, Kind::kAlu, 0},
                           {"cp cpi", Op::kCompare, Kind::kAlu, 0},
                           {"cpc", Op::kCompareCarry, Kind::kAlu, 0},
                           {"movw", Op::kMove, Kind::kAlu, Opcode::kPair},
                           {"lsl", Op::kAdd},
                           {"adiw", Op::kAdd, Kind::kAlu, Opcode::kPair},
                           {"adc rol", Op::kAddCarry},
                           {"sbiw", Op::kSubtract, Kind::kAlu, Opcode::kPair},
                           {"sbc sbci", Op::kSubtractCarry},
                           {"tst", Op::kAnd},
                           {"or ori eor clr bld", Op::kBinary},
                           {"bst", Op::kOther, Kind::kAlu, 0},
                           {"mul muls mulsu fmul*", Op::kOther, Kind::kAlu, Opcode::kProduct}};

// True if a word of the list is the name, or a prefix of it followed by "*".
bool is_one_of(std::string_view name, std::string_view list) {
  for (size_t at = 0; at < list.size();) {
    const size_t end = std::min(list.find(' ', at), list.size());
    const std::string_view item = list.substr(at, end - at);
    if (item.back() == '*' ? name.starts_with(item.substr(0, item.size() - 1)) : name == item) return true;
    at = end + 1;
  }
  return false;
}

const Opcode* row_of(Isa isa, std::string_view name) {
  const std::span<const Opcode> own = isa == Isa::kThumb   ? std::span<const Opcode>(kThumb)
                                      : isa == Isa::kRiscv ? std::span<const Opcode>(kRiscv)
                                                           : std::span<const Opcode>(kAvr);
  for (std::span<const Opcode> rows : {own, std::span<const Opcode>(kCommon)})
    for (const Opcode& row : rows)
      if (is_one_of(name, row.names)) return &row;
  return nullptr;
}

// "bhi" of Thumb, "bltu" of RISC-V, "brlo" of AVR.
Condition condition_of(std::string_view name) {
  if (name == "beq") return Condition::kEqual;
  if (name == "bne") return Condition::kNotEqual;
  if (is_one_of(name, "bcc blo bltu brcs brlo")) return Condition::kBelow;
  if (is_one_of(name, "bcs bhs bgeu brcc brsh")) return Condition::kNotBelow;
  if (is_one_of(name, "bhi bgtu")) return Condition::kAbove;
  return is_one_of(name, "bls bleu") ? Condition::kNotAbove : Condition::kOther;
}

bool is_binary(Op op) { return op >= Op::kBinary && op <= Op::kAndNot; }
bool is_before(const Instruction& a, const Instruction& b) { return a.address < b.address; }

int32_t bytes_of(int reg) { return reg >= kVectors ? 16 : reg >= kDoubles ? 8 : 4; }

// Sets the bytes of an access. The names of instructions with register lists say in which direction the base moves.
void complete_memory(Isa isa, std::string_view name, Instruction& i) {
  if (i.op != Op::kLoad && i.op != Op::kStore) return;
  using Update = Memory::Update;
  Memory& m = i.memory;
  if (i.op == Op::kLoad)
    for (int r : i.writes) m.bytes += bytes_of(r);
  else
    for (const Operand& o : i.reads) m.bytes += o.is_register() ? bytes_of(o.reg) : 0;
  if (isa == Isa::kRiscv) {
    if (name.starts_with("cm.")) {
      const int64_t frame = std::abs(i.reads.empty() ? 0 : i.reads.back().number);
      std::erase_if(i.reads, [](const Operand& o) { return o.is_number(); });
      const bool push = i.op == Op::kStore;
      m = {.base = 2,
           .offset = push ? -frame : frame,
           .bytes = m.bytes,
           .update = push ? Update::kBefore : Update::kAfter};
      if (name.starts_with("cm.popret") && !i.writes.empty()) i.writes[0] = kPc;
      return;
    }
    const std::string_view width = name.substr(name[0] == 'f' ? 2 : 1, 1);
    m.bytes = width == "b" ? 1 : width == "h" ? 2 : width == "d" ? 8 : 4;
    m.is_signed = name == "lb" || name == "lh";
    return;
  }
  if (isa == Isa::kAvr) {
    m.bytes = 1;
    if (name == "push") m = {.base = kAvrSp, .offset = -1, .bytes = 1, .update = Update::kAfter};
    if (name == "pop") m = {.base = kAvrSp, .offset = 1, .bytes = 1, .update = Update::kBefore};
    return;
  }
  if (m.index >= kVectors) m.shift = 0;
  const bool plain = name[0] != 'v';
  const std::string_view base = plain ? name : name.substr(1);
  if (base == "push" || base == "pop") {
    m.base = 13;
    m.update = Update::kBefore;
  }
  if (base == "push" || base == "pop" || base.starts_with("ldm") || base.starts_with("stm")) {
    // The 16-bit LDM updates its base register unless the register is in the list.
    if (base == "ldm" || base == "ldmia")
      if (i.size == 2 && std::find(i.writes.begin(), i.writes.end(), m.base) == i.writes.end())
        m.update = Update::kBefore;
    const bool down = base == "push" || base.ends_with("db");
    m.offset = down ? -m.bytes : m.update == Update::kNone ? 0 : m.bytes;
    if (!down && m.update != Update::kNone) m.update = Update::kAfter;
  } else if (is_one_of(base, "ld2* ld4* st2* st4*") && m.update != Update::kNone) {
    m.offset = m.bytes;
    m.update = Update::kAfter;
  } else if (plain && i.kind != Kind::kLoadPair && i.kind != Kind::kStorePair) {
    m.bytes = name.ends_with('b') ? 1 : name.ends_with('h') ? 2 : 4;
    m.is_signed = name.starts_with("ldrs");
  }
}

void complete_thumb(std::string_view name, const Opcode& opcode, Instruction& i) {
  const uint32_t pc = i.address + 4, aligned = pc & ~3u;
  if (name[0] == 'v' && i.op == Op::kOther && (opcode.kind == Kind::kVector || i.uses(kVectors))) {
    const bool product = name.starts_with("vml") || name.starts_with("vmul") || name.starts_with("vrmla") ||
                         name.starts_with("vfm") || name.find("dmul") != std::string_view::npos;
    i.kind = product ? Kind::kVectorMultiply : Kind::kVector;
    std::sort(i.writes.begin(), i.writes.end());
    i.writes.erase(std::unique(i.writes.begin(), i.writes.end()), i.writes.end());
  }
  if (name == "tbh") i.memory.shift = 1;
  if (i.memory.base == kPc) {
    i.memory.base = kNoRegister;
    i.memory.offset += i.op == Op::kTable ? pc : aligned;
  }
  // "add r1, pc, #4" is the text of ADR.
  const bool sum = i.op == Op::kAdd || i.op == Op::kSubtract;
  if (sum && i.reads.size() == 2 && i.reads[0].reg == kPc && i.reads[1].is_number()) {
    i.reads = {{kNoRegister, aligned + (i.op == Op::kAdd ? i.reads[1].number : -i.reads[1].number)}};
    i.op = Op::kMove;
  } else if (name == "adr" && !i.reads.empty()) {
    i.reads[0].number += aligned;
  }
  for (Operand& o : i.reads)
    if (o.reg == kPc) o = {kNoRegister, pc};
  if (i.op == Op::kAdd && i.shift == 0 && !i.writes.empty() && i.reads[1] == Operand{i.writes[0]})
    std::swap(i.reads[0], i.reads[1]);
  if (i.op == Op::kMove && i.shift > 0) {
    i.op = Op::kShiftLeft;
    i.reads.push_back({kNoRegister, i.shift});
    i.shift = 0;
  }
  if ((i.op == Op::kLowByte || i.op == Op::kLowHalf) && i.reads.size() == 2) {
    if (i.reads[1].number != 0) i.reads[0].reg = kUnknownRegister;
    i.reads.pop_back();
  }
  if (i.kind == Kind::kLoopEnd && i.reads.size() > 1) i.reads.erase(i.reads.begin());
  // These instructions accumulate into their results, or shift them.
  if (opcode.results == 2 && (i.kind == Kind::kLongAdd || i.kind == Kind::kAlu))
    for (int r : i.writes) i.reads.push_back({r});
}

void complete_riscv(std::string_view name, Instruction& i) {
  std::erase(i.writes, 0);
  if (i.op == Op::kVectorBytes) {
    if (i.reads.empty() || i.reads[0] != Operand{kNoRegister, kVlenb}) i.op = Op::kOther;
    std::erase_if(i.reads, [&](const Operand& o) { return i.op == Op::kVectorBytes || !o.is_register(); });
  }
  if (name == "ret") i.reads = {{1}};
  if (i.op == Op::kMoveHigh && !i.reads.empty())
    i.reads[0].number = static_cast<uint32_t>(i.reads[0].number << 12) + (name == "auipc" ? i.address : 0u);
  if (i.op == Op::kCall && i.writes.empty()) i.kind = Kind::kBranch;
  const bool jumps = i.op == Op::kCall || i.op == Op::kJump;
  if (jumps && i.reads.size() == 2 && i.reads[1] == Operand{}) i.reads.pop_back();
  // A jump that links another register, such as one to __riscv_save_4, is a jump inside the function.
  if (i.op == Op::kCall && (i.writes.empty() || i.writes[0] != 1)) i.op = Op::kJump;
  if (i.writes.empty() && (is_binary(i.op) || i.op == Op::kMove)) i.op = Op::kNop;
  if (name.starts_with("sh") && i.op == Op::kAdd) {
    std::swap(i.reads[0], i.reads[1]);
    i.shift = static_cast<uint32_t>(name[2] - '0');
  }
}

void complete_avr(std::string_view name, const Opcode& opcode, Instruction& i) {
  if (i.op == Op::kBranch && !i.reads.empty()) i.reads = {i.reads.back()};
  if (i.op == Op::kSkip) i.sets_flags = false;
  if (opcode.results == Opcode::kProduct) i.writes = {0, 1};
  if (opcode.results == Opcode::kPair && i.writes.size() == 1) i.writes.push_back(i.writes[0] + 1);
  if (name == "icall" || name == "ijmp") i.reads = {{30}};
  if (i.writes.empty() && (name == "lpm" || name == "elpm")) i.writes = {0};
  if ((name == "eor" || name == "clr") && i.reads.size() == 2 && i.reads[0] == i.reads[1]) {
    i.op = Op::kMove;
    i.reads = {{kNoRegister, 0}};
  }
}

}  // namespace

std::string name_of(Isa isa, std::string_view mnemonic) {
  std::string out;
  // LLVM's mnemonic "st\t-" of AVR contains a part of the operands.
  for (char c : mnemonic.substr(0, mnemonic.find_first_of("\t ")))
    out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (isa == Isa::kThumb && (out.ends_with(".w") || out.ends_with(".n"))) out.resize(out.size() - 2);
  if (isa == Isa::kRiscv && out.starts_with("c.")) out.erase(0, 2);
  if (isa == Isa::kRiscv && out.ends_with("sp")) out.resize(out.size() - 2);
  return out;
}

Opcode begin(Isa isa, std::string_view name, Instruction& i) {
  const Opcode* row = row_of(isa, name);
  // The suffix "s" of Thumb means that the instruction sets the flags.
  i.sets_flags = isa == Isa::kThumb && row == nullptr && name.ends_with('s');
  if (i.sets_flags) row = row_of(isa, name.substr(0, name.size() - 1));
  const Opcode out = row != nullptr ? *row : Opcode{};
  i.op = out.op;
  i.kind = out.kind;
  if (isa == Isa::kThumb && is_one_of(name, "cmp cmn tst teq")) i.sets_flags = true;
  if (isa == Isa::kAvr)
    i.sets_flags = (i.op == Op::kOther || i.op == Op::kCompare || i.op == Op::kCompareCarry || is_binary(i.op)) &&
                   !is_one_of(name, "swap bld sleep wdr spm sbi cbi");
  return out;
}

void complete(Isa isa, std::string_view name, const Opcode& opcode, Instruction& i) {
  if (i.op == Op::kBranch) i.condition = condition_of(name);
  const bool accesses = i.op == Op::kLoad || i.op == Op::kStore || i.op == Op::kLoadProgram || i.op == Op::kTable;
  if (!accesses)
    for (const Memory m = std::exchange(i.memory, {}); int r : {m.base, m.index})
      if (r >= 0 && r != kPc) i.reads.push_back({r});
  for (Operand& o : i.reads) o.number = static_cast<int32_t>(o.number);
  if (i.op == Op::kOther || i.op == Op::kBinary)
    std::erase_if(i.reads, [](const Operand& o) { return !o.is_register(); });
  complete_memory(isa, name, i);
  while (is_binary(i.op) && !i.writes.empty() && i.reads.size() < 2) i.reads.insert(i.reads.begin(), {i.writes[0]});
  if (isa == Isa::kThumb) complete_thumb(name, opcode, i);
  if (isa == Isa::kRiscv) complete_riscv(name, i);
  if (isa == Isa::kAvr) complete_avr(name, opcode, i);
  // "mov r8, r8" is a NOP.
  if (i.op == Op::kMove && i.writes.size() == 1 && i.shift == 0 && !i.reads.empty() &&
      i.reads[0] == Operand{i.writes[0]})
    i.op = Op::kNop;
  if (i.op == Op::kNop || i.op == Op::kSetStack) {
    i.writes.clear();
    i.reads.clear();
  }
  if (i.op == Op::kBinary) i.op = Op::kOther;
  if (i.op != Op::kOther) return;
  i.shift = 0;
  std::sort(i.reads.begin(), i.reads.end(), [](const Operand& a, const Operand& b) { return a.reg < b.reg; });
  i.reads.erase(std::unique(i.reads.begin(), i.reads.end()), i.reads.end());
}

bool Instruction::uses(int first) const {
  return memory.base >= first || memory.index >= first ||
         std::any_of(writes.begin(), writes.end(), [&](int r) { return r >= first; }) ||
         std::any_of(reads.begin(), reads.end(), [&](const Operand& o) { return o.reg >= first; });
}

void Listing::finish() { std::stable_sort(all_.begin(), all_.end(), is_before); }

const Instruction* Listing::from(uint32_t address) const {
  Instruction key;
  key.address = address;
  auto found = std::lower_bound(all_.begin(), all_.end(), key, is_before);
  return found == all_.end() ? nullptr : &*found;
}

const Instruction* Listing::before(uint32_t address) const {
  Instruction key;
  key.address = address;
  auto found = std::lower_bound(all_.begin(), all_.end(), key, is_before);
  return found == all_.begin() || std::prev(found)->next() != address ? nullptr : &*std::prev(found);
}

const Instruction* Listing::at(uint32_t address) const {
  const Instruction* found = from(address);
  return found != nullptr && found->address == address ? found : nullptr;
}

}  // namespace aotc::machine
