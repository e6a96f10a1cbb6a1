// SPDX-License-Identifier: Apache-2.0
// LlvmMachine: LLVM's description of the processor for which a program was linked. Decode instructions in order of
// their addresses, because a Thumb IT block affects the instructions behind it.
#pragma once

#include <memory>
#include <string>

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

#include "machine/elf.h"
#include "machine/instruction.h"

namespace aotc::analyze {

struct LlvmMachine {
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

  // `cpu`: LLVM's name of the core, for example "cortex-m4"; empty: the core in the program's attributes. On failure
  // returns false and sets `why` to the reason.
  bool make(const machine::Elf& elf, const std::string& cpu, std::string& why);

  // Calls found(address, instruction, size) for each instruction that LLVM decodes in the program's code.
  template <typename Found>
  void decode(const machine::Elf& elf, Found found) const {
    for (const machine::Section& s : elf.sections()) {
      if (!s.allocated() || !s.executable() || !s.has_bytes()) continue;
      const auto content = elf.content(s);
      const llvm::ArrayRef<uint8_t> bytes(content.data(), content.size());
      for (uint64_t at = 0, size = 0; at + 2 <= bytes.size(); at += size) {
        const auto address = s.address + static_cast<uint32_t>(at);
        llvm::MCInst inst;
        const bool decoded = !elf.is_data(address) &&
                             disassembler->getInstruction(inst, size, bytes.slice(at), address, llvm::nulls()) !=
                                 llvm::MCDisassembler::Fail;
        if (decoded && size > 0) found(address, inst, static_cast<uint32_t>(size));
        else size = 2;
      }
    }
  }

 private:
  bool make(const llvm::Triple& triple, const std::string& cpu, const std::string& features, std::string& why);
};

// Disassembles a program with LLVM, if no toolchain's objdump is installed.

// Returns a decoder, which reads from the ELF file's attributes and flags which instructions the CPU has. It reports
// [tool-failed].
machine::Decoder llvm_decoder();

}  // namespace aotc::analyze
