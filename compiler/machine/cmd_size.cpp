// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "machine/commands.h"
#include "machine/size.h"
#include "machine/stack_report.h"
#include "support/files.h"
#include "support/json.h"
#include "support/streams.h"
#include "support/text.h"

namespace aotc::machine {

namespace {

constexpr size_t kShownRows = 20, kShownChanges = 10;

struct SizeOptions {
  std::string file, old_file, map, model, objdump;
  std::vector<std::string> roots;
  int64_t max_code = -1, max_ram = -1, max_stack = -1;
  bool json = false, all = false;
};

// A linker's map beside the program is taken without being named.
Result<LinkerMap> linker_map(const std::string& given, const std::string& program, Diagnostics& diags) {
  std::string path = given;
  if (path.empty()) {
    std::filesystem::path beside = std::filesystem::path(program).replace_extension(".map");
    std::error_code ec;
    if (!std::filesystem::is_regular_file(beside, ec)) return LinkerMap{};
    path = beside.string();
  }
  auto bytes = read_file(path, diags);
  if (!bytes) return kFailure;
  return parse_linker_map(std::string(bytes->begin(), bytes->end()));
}

struct Limit {
  const char* name;
  int64_t most, is;
};

std::string change_text(const SizeChange& c) {
  return fmt::format("{:>+10}  {} ({} to {} bytes)", c.now - c.before, c.name, with_commas(c.before),
                     with_commas(c.now));
}

// What does not fit, with what grew.
int judge(const std::vector<Limit>& limits, const Elf& elf, const std::vector<SizeChange>& changed) {
  Diagnostics diags;
  Location where;
  where.file = elf.file();
  for (const Limit& l : limits) {
    if (l.most < 0 || l.is <= l.most) continue;
    auto& error = diags.error(
        where, "does-not-fit",
        fmt::format("{} {} bytes, but only {} are allowed", l.name, with_commas(l.is), with_commas(l.most)));
    for (size_t i = 0; i < std::min(kShownChanges, changed.size()); ++i)
      if (changed[i].now > changed[i].before) error.note(change_text(changed[i]));
  }
  if (!diags.has_errors()) return kDone;
  write_err(diags.str());
  return kTooMuch;
}

// The deepest of the roots.
Result<int64_t> stack_of(const Elf& elf, const SizeOptions& o, const DecoderChoice& choice, Diagnostics& diags) {
  const auto roots = roots_named(elf, o.roots, diags);
  if (diags.has_errors()) return kFailure;
  auto listing = choice(o.objdump)(elf, diags);
  if (!listing) return kFailure;
  StackAnalysis analysis(elf, *listing, {});
  int64_t most = 0;
  for (uint32_t f : roots) {
    StackBound b = analysis.bound(f);
    most = std::max(most, b.state == BoundState::kUnbounded ? INT64_MAX : b.bytes);
  }
  return most;
}

int size(const SizeOptions& o, const DecoderChoice& choice) {
  Diagnostics diags;
  auto elf = read_program(o.file, diags);
  if (!elf) return failed(diags);
  auto map = linker_map(o.map, o.file, diags);
  ModelFunctions model;
  if (!o.model.empty()) {
    auto read = read_model_functions(o.model, diags);
    if (read) model = *read;
  }
  if (diags.has_errors() || !map) return failed(diags);
  SizeReport report = size_of(*elf, *map, model);
  std::vector<SizeChange> changed;
  if (!o.old_file.empty()) {
    auto old_elf = read_program(o.old_file, diags);
    if (!old_elf) return failed(diags);
    auto old_map = linker_map("", o.old_file, diags);
    if (!old_map) return failed(diags);
    changed = changes(*old_elf, size_of(*old_elf, *old_map, model), *elf, report);
  }
  int64_t stack = -1;
  if (o.max_stack >= 0) {
    auto bytes = stack_of(*elf, o, choice, diags);
    if (!bytes) return failed(diags);
    stack = *bytes;
  }
  if (o.json) {
    auto j = size_json(*elf, report);
    if (!o.old_file.empty()) {
      j["changes"] = nlohmann::ordered_json::array();
      for (const SizeChange& c : changed)
        j["changes"].push_back({{"name", c.name}, {"before", c.before}, {"now", c.now}});
    }
    write_out(json_text(j, 2) + "\n");
  } else {
    write_out(size_text(*elf, report, o.all ? SIZE_MAX : kShownRows));
    if (!o.old_file.empty()) print_out("{} rows differ in size from {}\n", changed.size(), o.old_file);
    for (const SizeChange& c : changed) print_out("{}\n", change_text(c));
  }
  return judge({{"code and constants take", o.max_code, report.totals.flash()},
                {"variables take", o.max_ram, report.totals.ram()},
                {"the stack takes", o.max_stack, stack}},
               *elf, changed);
}

options::Option limit(const char* name, const char* help, int64_t& target) {
  return {
      .names = name, .value = "BYTES", .target = &target, .help = help, .range = options::Range{0, int64_t{1} << 32}};
}

}  // namespace

options::Command size_declaration(const DecoderChoice& decoder) {
  auto o = std::make_shared<SizeOptions>();
  return {
      .name = "size",
      .summary = "Show the size of a linked program, by section and function",
      .description =
          "Every byte of every section of FIRMWARE is in one row, so the rows add up to the section sizes of "
          "'size -A'. The linker's map names the object file of each row; aotc looks for the map beside FIRMWARE.",
      .options = {firmware_option(o->file),
                  {.names = "--map",
                   .value = "FILE",
                   .target = &o->map,
                   .help = "Read the map that GNU ld wrote with -Wl,-Map (default: FIRMWARE with the extension .map)",
                   .takes = options::Takes::kFile},
                  {.names = "--model",
                   .value = "FILE",
                   .target = &o->model,
                   .help = "Read the layers of each function from NAME.map.json, which aotc writes beside the C",
                   .takes = options::Takes::kFile},
                  {.names = "--compare",
                   .value = "OLD",
                   .target = &o->old_file,
                   .help = "Print the rows that grew or shrank since this older program",
                   .takes = options::Takes::kFile},
                  limit("--max-code", "Exit with 3 if code, constants and initial values take more than BYTES",
                        o->max_code),
                  limit("--max-ram", "Exit with 3 if variables take more than BYTES", o->max_ram),
                  limit("--max-stack",
                        "Exit with 3 if the stack of a root function may take more than BYTES, or has no bound",
                        o->max_stack),
                  {.names = "--root",
                   .value = "FUNCTION",
                   .target = &o->roots,
                   .help = "With --max-stack: root of the analysis, as in 'aotc analyze stack'"},
                  objdump_option(o->objdump),
                  {.names = "--all", .target = &o->all, .help = "Print all rows"},
                  {.names = "--json", .target = &o->json, .help = "Print JSON, with all rows"}},
      .run = [o, decoder] { return size(*o, decoder); }};
}

}  // namespace aotc::machine
