// SPDX-License-Identifier: Apache-2.0
#include "driver/compile_checks.h"

#include <algorithm>

#include <fmt/format.h>

#include "driver/slices.h"
#include "support/text.h"

namespace aotc::driver {

const char* first_given(std::initializer_list<std::pair<bool, const char*>> options) {
  for (const auto& [given, name] : options)
    if (given) return name;
  return nullptr;
}

Failure conflicting(const std::string& file, const std::string& what, const std::string& help, Diagnostics& diags) {
  Location where;
  where.file = file;
  diags.error(where, "option-conflict", what).help(help);
  return kFailure;
}

Result<std::vector<plan::Pool>> parse_pools(const std::vector<std::string>& texts, Diagnostics& diags) {
  std::vector<plan::Pool> pools;
  Location where;
  where.file = "--pool";
  bool good = true;
  auto wrong = [&](const std::string& text, const std::string& why) {
    diags.error(where, "pool-invalid", fmt::format("'{}' {}", escape_for_display(text), why))
        .help("write NAME:BYTES, NAME:BYTES:fast or NAME:BYTES:constants, with a C identifier as name");
    good = false;
  };
  for (const std::string& text : texts) {
    plan::Pool pool;
    size_t colon = text.find(':');
    // As a memory of the board is called, which C has in lower case.
    for (char letter : text.substr(0, colon))
      pool.name += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    std::string rest = colon == std::string::npos ? "" : text.substr(colon + 1);
    for (auto [suffix, flag] : {std::pair{":fast", &pool.fast}, {":constants", &pool.constants}})
      if (rest.ends_with(suffix)) {
        *flag = true;
        rest.resize(rest.size() - std::string_view(suffix).size());
      }
    bool digits = !rest.empty() && rest.size() <= 10 && rest.find_first_not_of("0123456789") == std::string::npos;
    if (pool.name.empty() || c_identifier(pool.name) != pool.name) {
      wrong(text, "has a name that is not a C identifier");
    } else if (!digits || std::stoll(rest) > INT32_MAX) {
      wrong(text, "has no valid size in bytes");
    } else if (pool.name == "arena" && pool.constants) {
      wrong(text, "uses the name 'arena', which is reserved for the pool of intermediate tensors");
    } else if (std::any_of(pools.begin(), pools.end(), [&](const plan::Pool& p) {
                 return p.name == pool.name || (p.constants && pool.constants);
               })) {
      wrong(text, "has the name of an earlier pool, or is a second pool of constants");
    } else {
      pool.limit = std::stoll(rest);
    }
    pools.push_back(std::move(pool));
  }
  if (!good) return kFailure;
  return pools;
}

Result<std::vector<plan::ConstantSection>> parse_sections(const CompileOptions& options, Diagnostics& diags) {
  std::vector<plan::ConstantSection> out;
  auto wrong = [&](const std::string& what, const std::string& help) -> Failure {
    (void)conflicting(options.model_path, "--constants-section " + what, help, diags);
    return kFailure;
  };
  const std::string& all = options.constants_section;
  for (size_t at = 0; at < all.size();) {
    size_t end = std::min(all.find(',', at), all.size());
    std::string text = all.substr(at, end - at);
    at = end + 1;
    size_t colon = std::min(text.find(':'), text.size());
    plan::ConstantSection section{text.substr(0, colon), -1};
    if (section.name.empty() ||
        section.name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") !=
            std::string::npos)
      return wrong("must be the name of a section", "use letters, digits, '_' and '.'");
    // Tables have content, and no place before the vectors.
    for (const char* other : {".bss", ".tbss", ".noinit", ".stack", ".vectors"})
      if (section.name.starts_with(other))
        return wrong(fmt::format("{} names a section that cannot hold tables", section.name),
                     "'aotc boards NAME' shows the sections that can hold tables");
    if (colon < text.size()) {
      std::string bytes = text.substr(colon + 1);
      if (bytes.empty() || bytes.size() > 10 || bytes.find_first_not_of("0123456789") != std::string::npos)
        return wrong(fmt::format("{} has no valid size in bytes", section.name), "write NAME or NAME:BYTES");
      section.bytes = std::stoll(bytes);
    }
    if (!out.empty() && out.back().bytes < 0)
      return wrong(fmt::format("{} follows a section without a size, which takes all remaining tables", section.name),
                   fmt::format("write {}:BYTES, or omit {}", out.back().name, section.name));
    if (std::any_of(out.begin(), out.end(), [&](const auto& s) { return s.name == section.name; }))
      return wrong(fmt::format("{} is given twice", section.name), "omit one of the two");
    out.push_back(std::move(section));
  }
  return out;
}

Contracts contracts_of(const CompileOptions& options) {
  // TVM's callers have their inputs and outputs.
  bool arena = options.memory == codegen::MemoryMode::kStatic && !options.tvm_interface;
  return {options.inputs.value_or(arena ? plan::Contract::kOverwrite : plan::Contract::kPreserve),
          options.outputs.value_or(plan::Contract::kPreserve)};
}

std::optional<uint32_t> parse_address(const CompileOptions& options, Diagnostics& diags) {
  const std::string& text = options.constants_address;
  const bool digits = text.size() > 2 && text.size() <= 10 && text.starts_with("0x") &&
                      text.find_first_not_of("0123456789abcdefABCDEF", 2) == std::string::npos;
  const uint64_t address = digits ? std::stoull(text.substr(2), nullptr, 16) : 0;
  if (address != 0 && address % plan::Program::kArenaAlignment == 0) return static_cast<uint32_t>(address);
  (void)conflicting(options.model_path,
                    fmt::format("--constants-address: '{}' is not a valid address", escape_for_display(text)),
                    fmt::format("write 0x and up to eight hexadecimal digits: a positive multiple of {}",
                                plan::Program::kArenaAlignment),
                    diags);
  return std::nullopt;
}

namespace {

// Tables in a file of their own.
Status check_constants_file(const CompileOptions& o, Diagnostics& diags) {
  const std::string& name = o.constants_file;
  if (name.empty()) {
    const char* without =
        first_given({{!o.constants_address.empty(), "--constants-address"}, {o.constants_open, "--constants-open"}});
    if (without == nullptr) return success();
    return conflicting(o.model_path, fmt::format("{} needs --constants-file", without), "add --constants-file NAME",
                       diags);
  }
  if (name[0] == '.' || name.size() > 100 || name.ends_with(".c") || name.ends_with(".h") || name.ends_with(".json") ||
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") != std::string::npos)
    return conflicting(o.model_path,
                       fmt::format("--constants-file: '{}' is not a valid file name", escape_for_display(name)),
                       "use letters, digits, '_', '-' and '.', as in weights.bin, but not the suffixes .c, .h and "
                       ".json; aotc writes the file beside the C files",
                       diags);
  const char* with = first_given({{!o.pools.empty(), "--pool"},
                                  {!o.slice.empty(), "--slice"},
                                  {o.feed, "--input rows"},
                                  {!o.constants_section.empty(), "--constants-section"},
                                  {!o.devices_path.empty(), "--devices"},
                                  {o.memory == codegen::MemoryMode::kWorkspace, "--memory workspace"},
                                  {o.convention != CallingConvention::kPlain, "--calling-convention"},
                                  {o.tvm_interface, "--interface tvm"},
                                  {!o.operators.empty(), "--operators"},
                                  {!o.schedules_path.empty(), "--schedules"}});
  if (with != nullptr)
    return conflicting(o.model_path, fmt::format("{} and --constants-file exclude each other", with),
                       "omit one of the two", diags);
  return o.constants_address.empty() || parse_address(o, diags) ? success() : Status(kFailure);
}

}  // namespace

Status check_options(const CompileOptions& options, Diagnostics& diags) {
  auto conflict = [&](const std::string& what, const std::string& help) -> Status {
    return conflicting(options.model_path, what, help, diags);
  };
  if (!options.cpu_name.empty() && !options.board_name.empty() && options.board_name != project::kGenericBoard)
    return conflict("--cpu and --board exclude each other: the board defines the CPU", "omit one of the two");
  bool workspace = options.memory == codegen::MemoryMode::kWorkspace;
  if (workspace && (!options.pools.empty() || !options.devices_path.empty()))
    return conflict(fmt::format("{} needs planned memory, but with '--memory workspace' no memory is planned",
                                options.pools.empty() ? "--devices" : "--pool"),
                    "omit one of the two");
  bool overwrites = options.inputs == plan::Contract::kOverwrite || options.outputs == plan::Contract::kOverwrite;
  if (options.tvm_interface && overwrites)
    return conflict("--interface tvm needs inputs and outputs in buffers of the caller, not in the arena",
                    "omit --input and --output, or omit --interface");
  if (!parse_sections(options, diags)) return kFailure;
  if (!options.constants_section.empty() &&
      std::any_of(options.pools.begin(), options.pools.end(),
                  [](const std::string& pool) { return pool.ends_with(":constants"); }))
    return conflict("--constants-section and a pool of constants exclude each other: both place the tables",
                    "omit one of the two");
  if (options.arena == codegen::ArenaOwner::kModel && !options.pools.empty())
    return conflict("--pool and '--arena model' exclude each other: a pool is memory of the caller",
                    "omit one of the two");
  if (options.stream.mode != plan::Stream::kOff && options.convention == CallingConvention::kRegistry)
    return conflict("--stream computes tensors row by row, but a function of the registry cannot report single rows",
                    "omit --stream, or omit --calling-convention registry");
  if (!check_constants_file(options, diags) || !check_slices(options, diags) || !check_feed(options, diags))
    return kFailure;
  if (!workspace) return success();
  Contracts contracts = contracts_of(options);
  for (auto [contract, name] : {std::pair{contracts.inputs, "--input"}, {contracts.outputs, "--output"}}) {
    if (contract == plan::Contract::kPreserve) continue;
    return conflict(fmt::format("'{} overwrite' needs an arena, but with '--memory workspace' there is no arena", name),
                    fmt::format("omit {}, or plan the memory with '--memory static'", name));
  }
  return success();
}

Status check_device_pools(const CompileOptions& options, const plan::PlanOptions& plan_options, Diagnostics& diags) {
  auto conflict = [&](const std::string& what, const std::string& help) -> Status {
    return conflicting(options.devices_path, what, help, diags);
  };
  for (const passes::Device& d : plan_options.devices.devices) {
    if (d.pool.empty()) continue;
    if (options.arena == codegen::ArenaOwner::kModel)
      return conflict(
          fmt::format("pool '{}' of device '{}' and '--arena model' exclude each other: a pool is memory of the caller",
                      d.pool, d.name),
          "omit --arena, or remove the member 'pool' of the device");
    for (const plan::Pool& pool : plan_options.pools)
      if (pool.constants && pool.name == d.pool)
        return conflict(
            fmt::format(
                "pool '{}' of device '{}' is a pool of constants, but a device must be able to write to its pool",
                d.pool, d.name),
            "give the device another pool");
  }
  return success();
}

Status check_program_tables(const CompileOptions& options, Diagnostics& diags) {
  std::string what;
  if (options.convention != CallingConvention::kPlain)
    what = fmt::format("--calling-convention {} passes tables as tensors, so it needs", name_of(options.convention));
  if (!options.constants_section.empty()) what = "--constants-section needs";
  if (!options.constants_file.empty()) what = "--constants-file needs";
  if (what.empty()) return success();
  return conflicting(options.model_path,
                     fmt::format("{} tables outside of program memory, but the tables for {} are in program memory",
                                 what, options.board_name.empty() ? options.cpu_name : "board " + options.board_name),
                     "store the tables in RAM with --constants ram, or omit the option", diags);
}

Status check_structure(const CompileOptions& options, const plan::Program& program, Diagnostics& diags) {
  const std::string& file = options.model_path;
  if (program.source != nullptr && options.memory == codegen::MemoryMode::kWorkspace)
    return conflicting(file, "--memory workspace supports only models without branches and loops",
                       "omit --memory: the planned arena covers all paths through the model", diags);
  if (program.state_bytes > 0 && program.constant_pool >= 0)
    return conflicting(
        file, "the model has tables with the initial values of its states, which cannot be in a pool of constants",
        "omit the pool of constants (or --constants-file), or use --constants-section", diags);
  return success();
}

}  // namespace aotc::driver
