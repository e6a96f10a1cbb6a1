// SPDX-License-Identifier: Apache-2.0
// What LLVM knows of the processor that a linked program is for. The one thing to know: instructions are read in
// order of their addresses, because what an IT block makes conditional stands behind it.
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

  // `cpu`: as LLVM calls it, "cortex-m4"; empty: what the program's attributes say. False, and why not.
  bool make(const machine::Elf& elf, const std::string& cpu, std::string& why);

 private:
  bool make(const llvm::Triple& triple, const std::string& cpu, const std::string& features, std::string& why);
};

}  // namespace aotc::analyze
