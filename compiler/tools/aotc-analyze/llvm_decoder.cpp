// SPDX-License-Identifier: Apache-2.0
#include "llvm_decoder.h"

#include <map>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstPrinter.h>
#include <llvm/MC/MCInstrAnalysis.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>

namespace aotc::analyze {

namespace {

using machine::Elf;
using machine::Isa;
using machine::Listing;
using machine::Section;

// Of the architecture in the flags of an ELF for AVR.
std::string avr_cpu(uint32_t flags) {
  const uint32_t arch = flags & 0x7fu;
  if (arch == 100) return "avrtiny";
  return arch > 100 ? fmt::format("avrxmega{}", arch - 100) : fmt::format("avr{}", arch);
}

// Everything that it takes to print one instruction.
struct Printer {
  const llvm::Target* target = nullptr;
  llvm::MCTargetOptions options;
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> assembler;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
  std::unique_ptr<llvm::MCInstPrinter> printer;
  std::unique_ptr<llvm::MCInstrAnalysis> analysis;

  bool make(llvm::Triple triple, const std::string& cpu, const std::string& features, std::string& why) {
    target = llvm::TargetRegistry::lookupTarget(triple.getTriple(), why);
    if (target == nullptr) return false;
    registers.reset(target->createMCRegInfo(triple.getTriple()));
    assembler.reset(target->createMCAsmInfo(*registers, triple.getTriple(), options));
    subtarget.reset(target->createMCSubtargetInfo(triple.getTriple(), cpu, features));
    instructions.reset(target->createMCInstrInfo());
    if (!registers || !assembler || !subtarget || !instructions) return false;
    context = std::make_unique<llvm::MCContext>(triple, assembler.get(), registers.get(), subtarget.get());
    disassembler.reset(target->createMCDisassembler(*subtarget, *context));
    printer.reset(target->createMCInstPrinter(triple, assembler->getAssemblerDialect(), *assembler, *instructions,
                                              *registers));
    analysis.reset(target->createMCInstrAnalysis(instructions.get()));
    return disassembler && printer;
  }
};

// "\tpush\t{r4, lr}"; targets of branches as addresses.
void add_instruction(const Elf& elf, Printer& p, const llvm::MCInst& inst, uint32_t address, uint32_t size,
                     Listing& to) {
  std::string text;
  llvm::raw_string_ostream out(text);
  p.printer->printInst(&inst, address, "", *p.subtarget, out);
  out.flush();
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos) return;
  const size_t end = text.find_first_of(" \t", begin);
  std::string operands = end == std::string::npos ? "" : text.substr(end);
  machine::Instruction made =
      machine::parse_instruction(elf.isa(), address, size, text.substr(begin, end - begin), operands);
  uint64_t branch_target = 0;
  const llvm::MCInstrDesc& kind = p.instructions->get(inst.getOpcode());
  // Arm's addresses of data are such operands, too; RISC-V's jumps that keep another register are no calls.
  const bool by_register = made.mnemonic == "jalr" || made.mnemonic == "jr";
  const bool goes = elf.isa() == Isa::kRiscv ? !by_register : kind.isBranch() || kind.isCall();
  if (p.analysis && goes && !made.operands.empty() &&
      p.analysis->evaluateBranch(inst, address, size, branch_target))
    made.operands.back() = fmt::format("{:#x}", static_cast<uint32_t>(branch_target));
  to.add(std::move(made));
}

void add_section(const Elf& elf, const Section& section, Printer& p, Listing& to) {
  auto content = elf.content(section);
  llvm::ArrayRef<uint8_t> bytes(content.data(), content.size());
  for (uint64_t at = 0; at + 2 <= bytes.size();) {
    const auto address = section.address + static_cast<uint32_t>(at);
    if (elf.is_data(address)) {
      at += 2;
      continue;
    }
    llvm::MCInst inst;
    uint64_t size = 0;
    auto status = p.disassembler->getInstruction(inst, size, bytes.slice(at), address, llvm::nulls());
    const bool decoded = status != llvm::MCDisassembler::Fail && size > 0;
    if (decoded) add_instruction(elf, p, inst, address, static_cast<uint32_t>(size), to);
    at += decoded ? size : 2;
  }
}

Result<Listing> decode(const Elf& elf, Diagnostics& diags) {
  llvm::InitializeAllTargetInfos();
  llvm::InitializeAllTargetMCs();
  llvm::InitializeAllDisassemblers();
  Location where;
  where.file = elf.file();
  auto fail = [&](const std::string& why) {
    diags.error(where, "tool-failed", "LLVM cannot disassemble it: " + escape_for_display(why, 300));
    return kFailure;
  };
  const llvm::StringRef bytes(reinterpret_cast<const char*>(elf.bytes().data()), elf.bytes().size());
  auto object = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(bytes, elf.file()));
  if (!object) return fail(llvm::toString(object.takeError()));
  llvm::Triple triple = (*object)->makeTriple();
  std::string features;
  if (auto found = (*object)->getFeatures())
    features = found->getString();
  else
    return fail(llvm::toString(found.takeError()));
  if (elf.isa() == Isa::kThumb) {
    (*object)->setARMSubArch(triple);
    // LLVM 19 reads no attribute that says FPv5. Instructions that a core does not have are in no program for it.
    if (triple.getSubArch() != llvm::Triple::ARMSubArch_v6m) features += ",+fp-armv8d16,+fp64";
    if (triple.getArch() == llvm::Triple::arm) triple.setArchName("thumb" + triple.getArchName().substr(3).str());
  }
  Printer printer;
  std::string why = "it has no such target";
  if (!printer.make(triple, elf.isa() == Isa::kAvr ? avr_cpu(elf.flags()) : "", features, why)) return fail(why);
  Listing listing;
  for (const Section& s : elf.sections())
    if (s.allocated() && s.executable() && s.has_bytes()) add_section(elf, s, printer, listing);
  listing.finish(elf.isa());
  return listing;
}

}  // namespace

machine::Decoder llvm_decoder() { return decode; }

}  // namespace aotc::analyze
