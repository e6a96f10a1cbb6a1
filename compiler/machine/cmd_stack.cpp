// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "machine/commands.h"
#include "machine/stack_report.h"
#include "support/files.h"
#include "support/json.h"
#include "support/streams.h"
#include "support/text.h"

namespace aotc::machine {

namespace {

struct StackOptions {
  std::string file, indirect, objdump;
  std::vector<std::string> roots, interrupts;
  int64_t vector_bits = -1;  // not given
  bool json = false, strict = false, apart = false;
};

}  // namespace

int failed(const Diagnostics& diags) {
  write_err(diags.str());
  for (const Diagnostic& d : diags.all())
    if (d.slug == "tool-missing") return kToolMissing;
  return kBadInput;
}

Result<Elf> read_program(const std::string& path, Diagnostics& diags) {
  auto bytes = read_file(path, diags);
  if (!bytes) return kFailure;
  return Elf::read(std::move(*bytes), path, diags);
}

std::vector<uint32_t> functions_named(const Elf& elf, const std::string& name, Diagnostics& diags) {
  auto found = functions_called(elf, name);
  if (!found.empty()) return found;
  Location where;
  where.file = elf.file();
  auto& error =
      diags.error(where, "function-unknown", "the program has no function '" + escape_for_display(name) + "'");
  std::vector<std::string> names;
  for (const Symbol& s : elf.symbols())
    if (s.kind == SymbolKind::kFunction) names.push_back(s.name);
  auto near = closest(name, names);
  if (!near.empty()) error.help("did you mean " + joined(near, ", ") + "?");
  return {};
}

std::vector<uint32_t> roots_named(const Elf& elf, const std::vector<std::string>& names, Diagnostics& diags) {
  if (names.empty()) return {elf.entry()};
  std::vector<uint32_t> out;
  for (const std::string& name : names)
    for (uint32_t f : functions_named(elf, name, diags)) out.push_back(f);
  return out;
}

options::Option firmware_option(std::string& target) {
  return {.names = "FIRMWARE",
          .target = &target,
          .help = "A linked program (.elf)",
          .required = true,
          .takes = options::Takes::kFile};
}

options::Option objdump_option(std::string& target) {
  return {.names = "--objdump",
          .value = "PROGRAM",
          .target = &target,
          .help = "Use this objdump, if the toolchain's objdump does not have its usual name"};
}

namespace {

// "TIMER_Handler=2,UART_Handler": handlers with their priorities, 0 if none is said.
// Gives what is none in `wrong`.
std::vector<std::pair<std::string, int>> handlers(const std::vector<std::string>& given, std::string& wrong) {
  std::vector<std::pair<std::string, int>> out;
  for (std::string rest : given)
    while (!rest.empty()) {
      size_t comma = rest.find(',');
      std::string item = rest.substr(0, comma);
      rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
      size_t equals = item.find('=');
      auto priority = equals == std::string::npos ? std::optional<int64_t>(0) : number_in(item.substr(equals + 1));
      if (!priority || *priority < 0 || *priority > 255) {
        wrong = item;
        continue;
      }
      out.emplace_back(item.substr(0, equals), static_cast<int>(*priority));
    }
  return out;
}

int stack(const StackOptions& o, const DecoderChoice& choice) {
  Diagnostics diags;
  std::string wrong;
  if (o.vector_bits > 0 && !std::has_single_bit(static_cast<uint64_t>(o.vector_bits)))
    return options::usage_error("aotc analyze stack", "--vector-bits: the number must be a power of 2", {});
  const auto given = handlers(o.interrupts, wrong);
  if (!wrong.empty())
    return options::usage_error("aotc analyze stack",
                                "--interrupts: '" + escape_for_display(wrong) + "' is not HANDLER=PRIORITY",
                                {"priorities are numbers from 0 to 255"});
  auto elf = read_program(o.file, diags);
  if (!elf) return failed(diags);
  IndirectCalls indirect;
  if (!o.indirect.empty()) {
    auto read = read_indirect_calls(o.indirect, *elf, diags);
    if (read) indirect = *read;
  }
  const auto roots = roots_named(*elf, o.roots, diags);
  std::vector<std::pair<uint32_t, int>> levels;
  for (auto& [name, priority] : given)
    for (uint32_t f : functions_named(*elf, name, diags)) levels.emplace_back(f, priority);
  if (diags.has_errors()) return failed(diags);
  auto listing = choice(o.objdump)(*elf, diags);
  if (!listing) return failed(diags);
  const VectorLength vectors =
      o.vector_bits > 0 ? VectorLength{static_cast<uint32_t>(o.vector_bits), true} : VectorLength{};
  StackAnalysis analysis(*elf, *listing, std::move(indirect), vectors);
  StackReport report;
  for (uint32_t f : roots) report.roots.push_back(analysis.bound(f));
  for (auto [f, priority] : levels) report.interrupts.push_back({priority, analysis.bound(f)});
  report.frame_bytes = exception_frame(*elf, *listing);
  report.handlers_apart = o.apart;
  write_out(o.json ? json_text(stack_json(*elf, report), 2) + "\n" : stack_text(*elf, report));
  return o.strict && !report.proven() ? kTooMuch : kDone;
}

}  // namespace

options::Command stack_declaration(const DecoderChoice& decoder) {
  auto o = std::make_shared<StackOptions>();
  return {
      .name = "stack",
      .summary = "Compute a bound of the stack usage of a linked program from its instructions",
      .description =
          "aotc walks the instructions of FIRMWARE (Arm Thumb, 32-bit RISC-V, AVR; code of any compiler) from each "
          "root function through all calls, and prints a bound with the deepest chain of calls. 'proven': every path "
          "was walked. 'assumed': the bound holds if the listed assumptions about compiled code are true. "
          "'unbounded': there is no bound, because of the listed causes, such as recursion.",
      .options = {firmware_option(o->file),
                  {.names = "--root",
                   .value = "FUNCTION",
                   .target = &o->roots,
                   .help = "Root of the analysis: a function or address 0x..., such as the entry of a thread "
                           "(default: the entry of the program)"},
                  {.names = "--interrupts",
                   .value = "HANDLER=PRIORITY,...",
                   .target = &o->interrupts,
                   .help = "Add interrupt handlers to the bounds; handlers of the same priority do not interrupt each "
                           "other"},
                  {.names = "--interrupt-stack",
                   .target = &o->apart,
                   .help = "Compute a separate bound for the handlers' own stack, as under an RTOS; the bound of a "
                           "root then includes only the bytes that the processor pushes for one handler"},
                  {.names = "--indirect",
                   .value = "FILE",
                   .target = &o->indirect,
                   .help = "Read the targets of calls through pointers: lines 'CALLER: CALLEE...'",
                   .takes = options::Takes::kFile},
                  {.names = "--vector-bits",
                   .value = "BITS",
                   .target = &o->vector_bits,
                   .help = "Length of the vector registers of RISC-V in bits, a power of 2. The stack of functions "
                           "that save such registers depends on it (default: 128, which counts as an assumption)",
                   .range = options::Range{32, 65536}},
                  objdump_option(o->objdump),
                  {.names = "--strict",
                   .target = &o->strict,
                   .help = "Exit with 3 if a bound is not proven; targets in the file of --indirect count as proven"},
                  {.names = "--json", .target = &o->json, .help = "Print JSON"}},
      .run = [o, decoder] { return stack(*o, decoder); }};
}

}  // namespace aotc::machine
