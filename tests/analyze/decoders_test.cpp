// SPDX-License-Identifier: Apache-2.0
// Compares the instructions that aotc-analyze makes of LLVM's MCInst with those that are read from the text of objdump.
// Usage: decoders_test PROGRAM...
#include <cstdio>

#include <fmt/format.h>

#include "llvm_machine.h"
#include "machine/commands.h"
#include "machine/objdump.h"

namespace {

using namespace aotc;           // NOLINT: all names are aotc's
using namespace aotc::machine;  // NOLINT

std::string text_of(const Instruction& i) {
  std::string out = fmt::format("{:x}+{} op {} kind {} condition {} conditional {} flags {} writes", i.address, i.size,
                                int(i.op), int(i.kind), int(i.condition), int(i.conditional), int(i.sets_flags));
  for (int r : i.writes) out += fmt::format(" {}", r);
  out += " reads";
  for (const Operand& o : i.reads) out += o.is_number() ? fmt::format(" #{}", o.number) : fmt::format(" {}", o.reg);
  const Memory& m = i.memory;
  return out + fmt::format(" shift {} memory {} {} {} {} {} {} {}", i.shift, m.base, m.index, m.offset, m.shift,
                           m.bytes, int(m.is_signed), int(m.update));
}

// Number of instructions that differ or that only one reader has; prints the first ones. Adds to `compared`.
int differences(const Elf& elf, const Listing& by_llvm, const Listing& by_text, size_t& compared) {
  constexpr int kShown = 20;
  int out = 0;
  const auto differ = [&](const std::string& a, const std::string& b) {
    if (++out <= kShown)
      std::printf("%s: LLVM: %s\n%s: text: %s\n", elf.file().c_str(), a.c_str(), elf.file().c_str(), b.c_str());
  };
  const auto is_code = [&](uint32_t address) {
    const Symbol* function = elf.function_around(address);
    return function != nullptr && address - function->address < function->size;
  };
  for (const Instruction& i : by_llvm.all()) {
    if (!is_code(i.address)) continue;
    ++compared;
    const Instruction* other = by_text.at(i.address);
    if (other == nullptr || *other != i) differ(text_of(i), other == nullptr ? "nothing" : text_of(*other));
  }
  for (const Instruction& i : by_text.all())
    if (is_code(i.address) && by_llvm.at(i.address) == nullptr) differ("nothing", text_of(i));
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  int failed = 0;
  for (int n = 1; n < argc; ++n) {
    Diagnostics diags;
    const auto elf = read_program(argv[n], diags);
    std::string why;
    analyze::LlvmMachine machine;
    const bool known = elf && machine.make(*elf, "", why);
    // The ELF file does not tell objdump that there are vectors.
    const bool vectors = known && elf->isa() == Isa::kThumb && machine.subtarget->checkFeatures("+mve");
    const auto by_llvm = known ? analyze::llvm_decoder()(*elf, diags) : Result<Listing>(kFailure);
    const auto by_text =
        known ? objdump_decoder_of("", vectors ? "armv8.1-m.main" : "")(*elf, diags) : Result<Listing>(kFailure);
    const bool read = by_llvm && by_text;
    size_t compared = 0;
    const int differing = read ? differences(*elf, *by_llvm, *by_text, compared) : -1;
    std::printf("%s%s: %zu instructions, %d differ\n", ((known ? "" : why) + diags.str()).c_str(), argv[n], compared,
                differing);
    failed += differing != 0 || compared == 0 ? 1 : 0;
  }
  std::printf("%d passed, %d failed\n", argc - 1 - failed, failed);
  return failed > 0 ? 1 : 0;
}
