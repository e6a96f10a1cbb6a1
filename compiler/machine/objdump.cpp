// SPDX-License-Identifier: Apache-2.0
#include "machine/objdump.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "support/process.h"
#include "support/text.h"

namespace aotc::machine {

namespace {

constexpr int kSeconds = 300;

std::vector<std::string> programs_for(Isa isa) {
  switch (isa) {
    case Isa::kThumb: return {"arm-none-eabi-objdump", "arm-zephyr-eabi-objdump"};
    case Isa::kRiscv:
      return {"riscv64-unknown-elf-objdump", "riscv32-unknown-elf-objdump", "riscv-none-elf-objdump",
              "riscv32-esp-elf-objdump"};
    case Isa::kAvr: return {"avr-objdump"};
  }
  return {};
}

bool is_hex(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string_view next_field(std::string_view& line) {
  size_t tab = line.find('\t');
  std::string_view field = line.substr(0, tab);
  line = tab == std::string_view::npos ? std::string_view() : line.substr(tab + 1);
  return field;
}

// CSEL, CSINC, CSINV and CSNEG of Armv8.1-M, which binutils 2.40 prints as undefined, by "ea50 8431 ": mnemonic and
// operands.
std::pair<std::string, std::string> conditional_select(std::string_view bytes) {
  constexpr size_t kHalf = 4;
  if (bytes.size() < 2 * kHalf + 1 || !is_hex(bytes.substr(0, kHalf)) || !is_hex(bytes.substr(kHalf + 1, kHalf)))
    return {};
  const auto half = [&](size_t from) { return std::stoul(std::string(bytes.substr(from, kHalf)), nullptr, 16); };
  const unsigned long first = half(0), second = half(kHalf + 1);
  if (first >> 4 != 0xEA5 || second >> 14 != 2) return {};
  constexpr const char* kNames[] = {"csel", "csinc", "csinv", "csneg"};
  const auto name = [](unsigned long r) {
    return r == 14 ? std::string("lr") : r == 15 ? "zr" : "r" + std::to_string(r);
  };
  return {kNames[second >> 12 & 3], name(second >> 8 & 15) + ", " + name(first & 15) + ", " + name(second & 15)};
}

// Returns "vmov.f32" for "vmoveq.f32" in an IT block.
std::string without_condition(std::string_view mnemonic) {
  std::string out(mnemonic);
  const size_t end = std::min(out.find('.'), out.size());
  return end > 2 ? out.erase(end - 2, 2) : out;
}

// "    8040:\te92d 4ff0 \tstmdb\tsp!, {r4, lr}". Data begins with a dot, an undefined instruction with "<".
// `block`: number of following instructions in the current IT block.
void add_line(Isa isa, std::string_view line, size_t& block, Listing& to) {
  std::string_view address = next_field(line), bytes = next_field(line), mnemonic = next_field(line);
  size_t begin = address.find_first_not_of(' ');
  if (begin == std::string_view::npos || !address.ends_with(':')) return;
  address = address.substr(begin, address.size() - begin - 1);
  while (mnemonic.ends_with(' ')) mnemonic.remove_suffix(1);
  std::pair<std::string, std::string> select;
  if (isa == Isa::kThumb && mnemonic.empty()) select = conditional_select(bytes);
  if (!select.first.empty()) mnemonic = select.first, line = select.second;
  if (!is_hex(address) || address.size() > 8 || mnemonic.empty()) return;
  if (std::string_view(".<(").find(mnemonic[0]) != std::string_view::npos) return;
  uint32_t digits = 0;
  for (char c : bytes) digits += c != ' ';
  if (digits < 4) return;
  const bool conditional = block > 0;
  const std::string name = conditional ? without_condition(mnemonic) : std::string(mnemonic);
  Instruction i = parse_instruction(isa, static_cast<uint32_t>(std::stoul(std::string(address), nullptr, 16)),
                                    digits / 2, name, line);
  i.conditional = conditional;
  to.add(std::move(i));
  if (conditional) --block;
  else if (isa == Isa::kThumb && name.starts_with("it") && name.find_first_not_of("te", 1) == std::string::npos)
    block = name.size() - 1;
}

}  // namespace

Listing parse_objdump(Isa isa, const std::string& text) {
  Listing out;
  size_t block = 0;
  std::string_view rest = text;
  while (!rest.empty()) {
    size_t end = rest.find('\n');
    add_line(isa, rest.substr(0, end), block, out);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  out.finish();
  return out;
}

Decoder objdump_decoder(const std::string& program) { return objdump_decoder_of(program, ""); }

Decoder objdump_decoder_of(const std::string& program, const std::string& architecture) {
  return [program, architecture](const Elf& elf, Diagnostics& diags) -> Result<Listing> {
    std::string found = program;
    if (found.empty())
      for (const std::string& name : programs_for(elf.isa()))
        if (found.empty() && !find_program(name).empty()) found = name;
    Location where;
    where.file = elf.file();
    if (found.empty() || find_program(found).empty()) {
      diags
          .error(where, "tool-missing",
                 fmt::format("no objdump for this machine is installed: {}",
                             joined(program.empty() ? programs_for(elf.isa()) : std::vector{program}, ", ")))
          .help("name the objdump with --objdump");
      return kFailure;
    }
    // More than the end of the output is needed, so the text is collected as it comes.
    std::string text;
    std::vector<std::string> command = {found, "-d", "-z", "--", elf.file()};
    // Without symbols that say so it takes Thumb for Arm's other instructions.
    if (elf.isa() == Isa::kThumb && !elf.is_mapped()) command.insert(command.begin() + 1, {"-M", "force-thumb"});
    // LLVM's decoder knows no aliases either.
    if (elf.isa() == Isa::kRiscv) command.insert(command.begin() + 1, {"-M", "no-aliases"});
    if (!architecture.empty()) command.insert(command.begin() + 1, {"-m", architecture});
    ProcessResult run = run_process(command, "", kSeconds, [&](const std::string& piece) {
      text += piece;
      return true;
    });
    if (!run.started || run.exit_code != 0) {
      where.file = found;
      diags.error(where, "tool-failed", fmt::format("the program ended with exit code {}", run.exit_code))
          .note(escape_for_display(run.output, 400));
      return kFailure;
    }
    return parse_objdump(elf.isa(), text);
  };
}

}  // namespace aotc::machine
