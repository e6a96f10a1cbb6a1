// SPDX-License-Identifier: Apache-2.0
#include "machine_code.h"

#include <llvm/MC/MCAsmBackend.h>
#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCCodeEmitter.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstPrinter.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCObjectFileInfo.h>
#include <llvm/MC/MCObjectWriter.h>
#include <llvm/MC/MCParser/MCAsmParser.h>
#include <llvm/MC/MCParser/MCTargetAsmParser.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCStreamer.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>

namespace aotc::tests::proof {

struct MachineCode::State {
  CoreName core;
  std::string problem;
  const llvm::Target* target = nullptr;
  llvm::MCTargetOptions options;
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> syntax;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCInstPrinter> printer;
};

MachineCode::MachineCode(const CoreName& core) : state_(std::make_unique<State>()) {
  static const bool ready = [] {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmParsers();
    llvm::InitializeAllDisassemblers();
    return true;
  }();
  (void)ready;
  State& s = *state_;
  s.core = core;
  s.target = llvm::TargetRegistry::lookupTarget(core.triple, s.problem);
  if (s.target == nullptr) return;
  s.registers.reset(s.target->createMCRegInfo(core.triple));
  s.syntax.reset(s.target->createMCAsmInfo(*s.registers, core.triple, s.options));
  s.subtarget.reset(s.target->createMCSubtargetInfo(core.triple, core.cpu, core.features));
  s.instructions.reset(s.target->createMCInstrInfo());
  s.printer.reset(
      s.target->createMCInstPrinter(llvm::Triple(core.triple), 0, *s.syntax, *s.instructions, *s.registers));
}

MachineCode::~MachineCode() = default;

namespace {

// The section .text of an object file.
Assembled text_of(llvm::StringRef object) {
  Assembled out;
  auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "kernel"));
  if (!file) {
    out.problem = llvm::toString(file.takeError());
    return out;
  }
  for (const llvm::object::SectionRef& section : (*file)->sections()) {
    auto name = section.getName();
    if (!name) {
      llvm::consumeError(name.takeError());
      continue;
    }
    if (*name == ".rel.text" || *name == ".rela.text") out.is_final = false;
    if (*name != ".text") continue;
    auto contents = section.getContents();
    if (contents) out.bytes.assign(contents->begin(), contents->end());
    else out.problem = llvm::toString(contents.takeError());
  }
  return out;
}

}  // namespace

Assembled MachineCode::assemble(const std::string& text) const {
  const State& s = *state_;
  std::string problem = s.problem;
  if (s.target == nullptr) return {.problem = problem};
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text), llvm::SMLoc());
  sources.setDiagHandler(
      [](const llvm::SMDiagnostic& said, void* to) {
        if (said.getKind() == llvm::SourceMgr::DK_Error)
          *static_cast<std::string*>(to) += said.getMessage().str() + " in '" + said.getLineContents().str() + "'\n";
      },
      &problem);
  const llvm::Triple triple(s.core.triple);
  llvm::MCContext context(triple, s.syntax.get(), s.registers.get(), s.subtarget.get(), &sources, &s.options);
  std::unique_ptr<llvm::MCObjectFileInfo> object(s.target->createMCObjectFileInfo(context, false));
  context.setObjectFileInfo(object.get());
  context.setDiagnosticHandler(
      [&problem](const llvm::SMDiagnostic& said, bool, const llvm::SourceMgr&, std::vector<const llvm::MDNode*>&) {
        if (said.getKind() == llvm::SourceMgr::DK_Error) problem += said.getMessage().str() + "\n";
      });
  std::unique_ptr<llvm::MCAsmBackend> backend(s.target->createMCAsmBackend(*s.subtarget, *s.registers, s.options));
  std::unique_ptr<llvm::MCCodeEmitter> emitter(s.target->createMCCodeEmitter(*s.instructions, context));
  llvm::SmallVector<char> bytes;
  llvm::raw_svector_ostream out(bytes);
  std::unique_ptr<llvm::MCObjectWriter> writer = backend->createObjectWriter(out);
  std::unique_ptr<llvm::MCStreamer> streamer(s.target->createMCObjectStreamer(
      triple, context, std::move(backend), std::move(writer), std::move(emitter), *s.subtarget));
  std::unique_ptr<llvm::MCAsmParser> parser(llvm::createMCAsmParser(sources, context, *streamer, *s.syntax));
  std::unique_ptr<llvm::MCTargetAsmParser> reader(
      s.target->createMCAsmParser(*s.subtarget, *parser, *s.instructions, s.options));
  if (!reader) return {.problem = "LLVM has no assembler for it"};
  parser->setTargetParser(*reader);
  const bool failed = parser->Run(false) || context.hadError();
  if (failed && problem.empty()) problem = "LLVM gives no reason\n";
  if (!problem.empty()) return {.problem = problem};
  return text_of(llvm::StringRef(bytes.data(), bytes.size()));
}

std::vector<MachineCode::Line> MachineCode::disassemble(const std::vector<uint8_t>& code) const {
  const State& s = *state_;
  llvm::MCContext context(llvm::Triple(s.core.triple), s.syntax.get(), s.registers.get(), s.subtarget.get());
  // A new one each time: it remembers the conditions of an IT instruction.
  std::unique_ptr<llvm::MCDisassembler> reader(s.target->createMCDisassembler(*s.subtarget, context));
  std::vector<Line> out;
  for (size_t at = 0; at < code.size();) {
    llvm::MCInst instruction;
    uint64_t bytes = 0;
    const auto status = reader->getInstruction(instruction, bytes, llvm::ArrayRef(code).slice(at), at, llvm::nulls());
    // Soft failures are encodings with unpredictable effects.
    if (status != llvm::MCDisassembler::Success || bytes == 0) return {};
    std::string text;
    llvm::raw_string_ostream to(text);
    s.printer->printInst(&instruction, at, "", *s.subtarget, to);
    out.push_back({static_cast<int>(at), static_cast<int>(bytes), text});
    at += bytes;
  }
  return out;
}

}  // namespace aotc::tests::proof
