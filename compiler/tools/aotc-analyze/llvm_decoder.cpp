// SPDX-License-Identifier: Apache-2.0
#include "llvm_machine.h"

#include <string>

#include <fmt/format.h>
#include <llvm/MC/MCInst.h>
#include <llvm/Support/raw_ostream.h>

namespace aotc::analyze {

namespace {

using machine::Elf;
using machine::Isa;
using machine::Listing;
using machine::Section;

// "\tpush\t{r4, lr}"; targets of branches as addresses.
void add_instruction(const Elf& elf, LlvmMachine& p, const llvm::MCInst& inst, uint32_t address, uint32_t size,
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
  if (p.analysis && goes && !made.operands.empty() && p.analysis->evaluateBranch(inst, address, size, branch_target))
    made.operands.back() = fmt::format("{:#x}", static_cast<uint32_t>(branch_target));
  to.add(std::move(made));
}

void add_section(const Elf& elf, const Section& section, LlvmMachine& p, Listing& to) {
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
  Location where;
  where.file = elf.file();
  LlvmMachine printer;
  std::string why;
  if (!printer.make(elf, "", why)) {
    diags.error(where, "tool-failed", "LLVM cannot disassemble the program: " + escape_for_display(why, 300));
    return kFailure;
  }
  Listing listing;
  for (const Section& s : elf.sections())
    if (s.allocated() && s.executable() && s.has_bytes()) add_section(elf, s, printer, listing);
  listing.finish(elf.isa());
  return listing;
}

}  // namespace

machine::Decoder llvm_decoder() { return decode; }

}  // namespace aotc::analyze
