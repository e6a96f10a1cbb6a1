// SPDX-License-Identifier: Apache-2.0
#include "llvm_machine.h"

#include <algorithm>
#include <string>
#include <utility>

#include <llvm/ADT/StringExtras.h>

namespace aotc::analyze {

namespace {

using machine::Elf;
using machine::Isa;
using machine::Kind;
using machine::kNoRegister;
using machine::kUnknownRegister;
using machine::Listing;
using machine::Memory;
using machine::Op;
using machine::Operand;

// Converts an MCInst to an Instruction. An MCInst has its definitions first, then its uses; MCInstrDesc says which
// operands are predicates, and which uses are tied to a definition.
class Conversion {
 public:
  Conversion(Isa isa, const LlvmMachine& machine, const llvm::MCInst& inst, uint32_t address, uint32_t size)
      : isa_(isa), machine_(machine), desc_(machine.instructions->get(inst.getOpcode())) {
    i_.address = address;
    i_.size = size;
    std::string name = machine::name_of(isa, machine.printer->getMnemonic(&inst).first);
    split(inst, isa == Isa::kThumb && name[0] == 'v', name == "vcvt");
    // A branch is named by its condition; other instructions with a condition are in an IT block.
    const bool branches = isa == Isa::kThumb && name == "b" && desc_.isConditionalBranch();
    if (branches) name = std::string("b") + kConditions[predicate_ & 15];
    i_.conditional = predicate_ != kAlways && !branches;
    if (name == "hint" && !i_.reads.empty() && i_.reads[0].number == 0) name = "nop";
    const bool sets_flags = i_.sets_flags && name != "msr";
    const machine::Opcode opcode = machine::begin(isa, name, i_);
    i_.sets_flags = sets_flags;
    if (name == "msr" && !i_.reads.empty() && (i_.reads[0].number & 0xff) == kMainStack) i_.op = Op::kSetStack;
    aim(inst, name);
    const llvm::StringRef opcode_name = machine.instructions->getName(inst.getOpcode());
    if (name.starts_with("cm.")) frame();
    else if (i_.op == Op::kLoad || i_.op == Op::kStore || i_.op == Op::kTable || i_.op == Op::kLoadProgram)
      access(name, opcode_name);
    if (name.ends_with("clrm"))
      for (const Operand& o : std::exchange(i_.reads, {})) i_.writes.push_back(o.reg);
    if (isa == Isa::kThumb) thumb_numbers(name);
    machine::complete(isa, name, opcode, i_);
  }

  machine::Instruction take() { return std::move(i_); }

 private:
  static constexpr int64_t kAlways = 14, kMainStack = 8;
  static constexpr const char* kConditions[kAlways + 2] = {"eq", "ne", "cs", "cc", "mi", "pl", "vs", "vc",
                                                           "hi", "ls", "ge", "lt", "gt", "le", "",   ""};

  // Appends the numbers of an LLVM register; "Q0_Q1" is two registers.
  void add_registers(unsigned reg, std::vector<int>& to) const {
    const llvm::StringRef name = machine_.registers->getName(reg);
    const int n = machine_.registers->getEncodingValue(reg);
    const bool numbered = name.size() > 1 && llvm::isDigit(name[1]);
    int first = kUnknownRegister;
    if (name == "PC") first = machine::kPc;
    else if (name == "SP" || name == "LR" || (numbered && (name[0] == 'R' || name[0] == 'X'))) first = n;
    else if (numbered && (name[0] == 'S' || name[0] == 'F')) first = machine::kSingles + n;
    else if (numbered && name[0] == 'D') first = machine::kDoubles + n;
    else if (numbered && name[0] == 'Q') first = machine::kVectors + n;
    for (int k = 0; first >= 0 && k <= static_cast<int>(name.count('_')); ++k)
      if (k == 0 || name[0] == 'Q') to.push_back(first + k);
  }

  // `vector`: an instruction of the floating-point unit or of Helium; assembly text does not repeat their tied
  // operands. `converts`: VCVT, whose text does.
  void split(const llvm::MCInst& inst, bool vector, bool converts) {
    bool optional_flags = false;
    for (unsigned n = 0; n < inst.getNumOperands(); ++n) {
      const llvm::MCOperand& o = inst.getOperand(n);
      const llvm::MCOperandInfo* info = n < desc_.getNumOperands() ? &desc_.operands()[n] : nullptr;
      if (info != nullptr && info->isPredicate()) {
        if (o.isImm()) predicate_ = o.getImm();
      } else if (info != nullptr && info->isOptionalDef()) {
        optional_flags = true;
        i_.sets_flags = o.getReg() != 0;
      } else if (o.isImm()) {
        i_.reads.push_back({kNoRegister, o.getImm()});
      } else if (o.isReg() && o.getReg() != 0) {
        std::vector<int> registers;
        add_registers(o.getReg(), registers);
        const bool tied = info != nullptr && desc_.getOperandConstraint(n, llvm::MCOI::TIED_TO) >= 0;
        if (tied) tied_.insert(tied_.end(), registers.begin(), registers.end());
        for (int r : registers)
          if (n < desc_.getNumDefs()) i_.writes.push_back(r);
          else if (!tied || !vector || desc_.mayLoad() || desc_.mayStore() || (converts && r < machine::kVectors))
            i_.reads.push_back({r});
      }
    }
    for (const llvm::MCPhysReg r : desc_.implicit_defs()) {
      const llvm::StringRef name = machine_.registers->getName(r);
      if (!optional_flags && (name == "CPSR" || name == "SREG")) i_.sets_flags = true;
      if (name == "X1") i_.writes.push_back(1);
    }
  }

  // Replaces the distance of a jump by its target.
  void aim(const llvm::MCInst& inst, const std::string& name) {
    const bool goes = i_.op == Op::kJump || i_.op == Op::kCall || i_.op == Op::kBranch;
    if (!goes || i_.reads.empty() || !i_.reads.back().is_number() || name == "jalr") return;
    uint64_t target = 0;
    if (machine_.analysis && machine_.analysis->evaluateBranch(inst, i_.address, i_.size, target))
      i_.reads.back().number = static_cast<int64_t>(target);
    else if (isa_ == Isa::kAvr && i_.size == 2) i_.reads.back().number += i_.next();
  }

  // Zcmp's list of ra and s0 to s11, and the bytes that the stack pointer moves.
  void frame() {
    if (i_.reads.size() < 2) return;
    const int64_t list = i_.reads[i_.reads.size() - 2].number, more = i_.reads.back().number;
    const int count = list == 15 ? 13 : static_cast<int>(list) - 3;
    i_.reads.clear();
    for (int n = 0; n < count; ++n) {
      const int r = n == 0 ? 1 : n < 3 ? 7 + n : 15 + n;
      if (i_.op == Op::kStore) i_.reads.push_back({r});
      else i_.writes.push_back(r);
    }
    i_.reads.push_back({kNoRegister, (4 * count + 15) / 16 * 16 + more});
  }

  // Moves the operands of the address from `reads` to `memory`.
  void access(const std::string& name, llvm::StringRef opcode_name) {
    std::vector<Operand> uses = std::exchange(i_.reads, {});
    Memory& m = i_.memory;
    const auto take = [&] {
      const Operand out = uses.front();
      uses.erase(uses.begin());
      return out;
    };
    const auto is_register = [&](size_t n) { return n < uses.size() && uses[n].is_register(); };
    // The registers that are stored come first, apart from lists, the pointers of AVR, and SC.
    size_t stored = 0;
    if (isa_ == Isa::kRiscv) stored = !uses.empty() && uses.back().is_number() ? 1 : 0;
    if (isa_ == Isa::kThumb && !is_many()) stored = i_.kind == Kind::kStorePair || name.ends_with("exd") ? 2 : 1;
    if (i_.op != Op::kStore || i_.kind >= Kind::kFloat) stored = 0;
    // VLD2 and VLD4 use the registers that they load, because each writes a part of them.
    while (!is_many() && is_register(0) && is_register(1) && (uses[0].reg >= machine::kSingles || stored-- > 0))
      if (const Operand o = take(); i_.op == Op::kStore) i_.reads.push_back(o);
    if (name != "push" && name != "pop" && is_register(0)) m.base = take().reg;
    else if (isa_ == Isa::kThumb && !is_many()) m.base = machine::kPc;
    if (std::find(tied_.begin(), tied_.end(), m.base) != tied_.end()) {
      std::erase(i_.writes, m.base);
      m.update = opcode_name.ends_with_insensitive("_post") ? Memory::Update::kAfter : Memory::Update::kBefore;
    }
    if (isa_ == Isa::kThumb && !is_many() && is_register(0)) m.index = take().reg;
    const auto number = std::find_if(uses.begin(), uses.end(), [](const Operand& o) { return o.is_number(); });
    if (number != uses.end() && m.index != kNoRegister) m.shift = static_cast<uint32_t>(number->number);
    else if (number != uses.end()) m.offset = scaled(number->number);
    if (isa_ == Isa::kAvr && (opcode_name.contains("Pi") || opcode_name.contains("Pd"))) {
      m.offset = opcode_name.contains("Pi") ? 1 : -1;
      m.update = m.offset > 0 ? Memory::Update::kAfter : Memory::Update::kBefore;
    }
    for (const Operand& o : uses)
      if (o.is_register() && i_.op == Op::kLoad && is_many()) i_.writes.push_back(o.reg);
      else if (o.is_register()) i_.reads.push_back(o);
  }

  bool is_many() const {
    return i_.kind == Kind::kLoadMany || i_.kind == Kind::kStoreMany || i_.kind == Kind::kFloatLoadMany ||
           i_.kind == Kind::kFloatStoreMany;
  }

  // Returns an offset in bytes. For the address forms below, which TSFlags numbers, LLVM keeps the encoded field.
  int64_t scaled(int64_t field) const {
    constexpr uint64_t kForms = 31, kFloat = 5, kHalfFloat = 19, kHalf = 8, kWord = 9, kStack = 10, kExclusive = 20;
    if (isa_ != Isa::kThumb) return field;
    const uint64_t form = desc_.TSFlags & kForms;
    if (form == kFloat || form == kHalfFloat)
      return (field & 0xff) * (form == kFloat ? 4 : 2) * ((field & 0x100) != 0 ? -1 : 1);
    if (form == kHalf) return 2 * field;
    return form == kWord || form == kExclusive || (form == kStack && i_.memory.base == 13) ? 4 * field : field;
  }

  // Decodes numbers that LLVM keeps as they are encoded.
  void thumb_numbers(const std::string& name) {
    constexpr int64_t kKinds = 7, kLeft = 2;
    std::vector<Operand>& reads = i_.reads;
    if (reads.empty() || !reads.back().is_number()) return;
    int64_t& number = reads.back().number;
    const bool one = i_.op == Op::kNot, sum = i_.op == Op::kAdd || i_.op == Op::kSubtract;
    const bool two = sum || i_.op == Op::kAnd || i_.op == Op::kAndNot || i_.op == Op::kCompare;
    if (name == "ubfx") ++number;
    else if (i_.size == 2 && (name == "adr" || (sum && reads[0].reg == 13))) number *= 4;
    else if ((one && reads.size() == 2) || (two && reads.size() == 3)) {
      const int64_t shift = number;
      reads.pop_back();
      if ((shift & kKinds) == kLeft) i_.shift = static_cast<uint32_t>(shift >> 3);
      else reads.back() = {kUnknownRegister};
    }
  }

  Isa isa_;
  const LlvmMachine& machine_;
  const llvm::MCInstrDesc& desc_;
  machine::Instruction i_;
  int64_t predicate_ = kAlways;
  std::vector<int> tied_;
};

Result<Listing> decode(const Elf& elf, Diagnostics& diags) {
  Location where;
  where.file = elf.file();
  LlvmMachine machine;
  std::string why;
  if (!machine.make(elf, "", why)) {
    diags.error(where, "tool-failed", "LLVM cannot disassemble the program: " + escape_for_display(why, 300));
    return kFailure;
  }
  Listing listing;
  machine.decode(elf, [&](uint32_t address, const llvm::MCInst& inst, uint32_t size) {
    listing.add(Conversion(elf.isa(), machine, inst, address, size).take());
  });
  listing.finish();
  return listing;
}

}  // namespace

machine::Decoder llvm_decoder() { return decode; }

}  // namespace aotc::analyze
