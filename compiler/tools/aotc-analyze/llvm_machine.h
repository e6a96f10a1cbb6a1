// SPDX-License-Identifier: Apache-2.0
// LLVM's description of the processor for which a program is linked. Instructions must be read in order of their
// addresses, because an IT block affects the instructions behind it.
#pragma once

#include <memory>
#include <string>

#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInstPrinter.h>
#include <llvm/MC/MCInstrAnalysis.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/MC/TargetRegistry.h>

#include "machine/elf.h"

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

  // `cpu`: LLVM's name, "cortex-m4"; empty: from the program's attributes. False with the reason in `why`.
  bool make(const machine::Elf& elf, const std::string& cpu, std::string& why);

 private:
  bool make(const llvm::Triple& triple, const std::string& cpu, const std::string& features, std::string& why);
};

}  // namespace aotc::analyze
