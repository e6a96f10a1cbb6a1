// SPDX-License-Identifier: Apache-2.0
#include "llvm_machine.h"

#include <fmt/format.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>

namespace aotc::analyze {

namespace {

// Of the architecture in the flags of an ELF for AVR.
std::string avr_cpu(uint32_t flags) {
  const uint32_t arch = flags & 0x7fu;
  if (arch == 100) return "avrtiny";
  return arch > 100 ? fmt::format("avrxmega{}", arch - 100) : fmt::format("avr{}", arch);
}

}  // namespace

bool LlvmMachine::make(const llvm::Triple& triple, const std::string& cpu, const std::string& features,
                       std::string& why) {
  target = llvm::TargetRegistry::lookupTarget(triple.getTriple(), why);
  if (target == nullptr) return false;
  registers.reset(target->createMCRegInfo(triple.getTriple()));
  assembler.reset(target->createMCAsmInfo(*registers, triple.getTriple(), options));
  subtarget.reset(target->createMCSubtargetInfo(triple.getTriple(), cpu, features));
  instructions.reset(target->createMCInstrInfo());
  if (!registers || !assembler || !subtarget || !instructions) return false;
  context = std::make_unique<llvm::MCContext>(triple, assembler.get(), registers.get(), subtarget.get());
  disassembler.reset(target->createMCDisassembler(*subtarget, *context));
  printer.reset(
      target->createMCInstPrinter(triple, assembler->getAssemblerDialect(), *assembler, *instructions, *registers));
  analysis.reset(target->createMCInstrAnalysis(instructions.get()));
  return disassembler && printer;
}

bool LlvmMachine::make(const machine::Elf& elf, const std::string& cpu, std::string& why) {
  using machine::Isa;
  llvm::InitializeAllTargetInfos();
  llvm::InitializeAllTargetMCs();
  llvm::InitializeAllDisassemblers();
  const llvm::StringRef bytes(reinterpret_cast<const char*>(elf.bytes().data()), elf.bytes().size());
  auto object = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(bytes, elf.file()));
  auto fail = [&why](llvm::Error error) {
    why = llvm::toString(std::move(error));
    return false;
  };
  if (!object) return fail(object.takeError());
  llvm::Triple triple = (*object)->makeTriple();
  auto found = (*object)->getFeatures();
  if (!found) return fail(found.takeError());
  std::string features = found->getString();
  if (elf.isa() == Isa::kThumb) {
    (*object)->setARMSubArch(triple);
    // LLVM 19 reads no attribute that says FPv5. Instructions that a core does not have are in no program for it.
    if (triple.getSubArch() != llvm::Triple::ARMSubArch_v6m) features += ",+fp-armv8d16,+fp64";
    if (triple.getArch() == llvm::Triple::arm) triple.setArchName("thumb" + triple.getArchName().substr(3).str());
  }
  why = "LLVM does not support the target";
  return make(triple, elf.isa() == Isa::kAvr && cpu.empty() ? avr_cpu(elf.flags()) : cpu, features, why);
}

}  // namespace aotc::analyze
