// SPDX-License-Identifier: Apache-2.0
// mlf: Model Library Format archives of any version: inspect, extract, diff.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driver/commands.h"
#include "mlf/archive.h"
#include "mlf/difference.h"
#include "mlf/metadata.h"
#include "support/files.h"
#include "support/json.h"
#include "support/streams.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

using Json = nlohmann::ordered_json;

// As of diff(1): the files were not compared.
constexpr int kExitTrouble = 2;

struct MlfOptions {
  std::string archive, other, directory, style;
  bool json = false, force = false;
};

// An archive, or the metadata.json of one: a file that begins as an object of JSON is no tar.
Result<mlf::Archive> open(const std::string& path, const std::string& style, Diagnostics& diags) {
  auto bytes = read_file(path, diags, mlf::kMaxBytes);
  if (!bytes) return kFailure;
  size_t i = 0;
  while (i < bytes->size() && (*bytes)[i] <= ' ') ++i;
  if (i < bytes->size() && (*bytes)[i] == '{') return mlf::read_metadata_file(path, diags, style);
  return mlf::read_archive_bytes(*bytes, path, diags, style);
}

std::string shown(const std::string& text) { return escape_for_display(text); }

// "device 1 (CPU)": the numbers are DLDeviceType's.
std::string device_name(int64_t device) { return device == 1 ? "device 1 (CPU)" : fmt::format("device {}", device); }

void print_memory(const mlf::ModuleInfo& m) {
  for (const mlf::MainMemory& main : m.main) {
    print_out("  memory on {}: workspace {}", device_name(main.device), format_bytes(main.workspace_bytes));
    if (main.constants_bytes) print_out(", constants {}", format_bytes(*main.constants_bytes));
    if (main.state_bytes) print_out(", state {}", format_bytes(*main.state_bytes));
    if (main.io_bytes) print_out(", inputs and outputs {}", format_bytes(*main.io_bytes));
    print_out("\n");
  }
  if (m.storage_ids > 0)
    print_out("  storage of the graph executor: {} with {} storage ids\n", format_bytes(m.storage_bytes),
              m.storage_ids);
}

void print_module(const mlf::ModuleInfo& m) {
  print_out("model {}: executor {}, exported {}\n", shown(m.name),
            m.executors.empty() ? "none" : shown(joined(m.executors, ", ")), shown(m.export_datetime));
  for (const std::string& target : m.targets) print_out("  target {}\n", shown(target));
  for (const std::string& needed : m.external_dependencies) print_out("  needs {}\n", shown(needed));
  print_memory(m);
  std::vector<std::vector<std::string>> rows;
  for (const mlf::PortInfo& p : m.inputs)
    rows.push_back({"  input", shown(p.name), shown(p.dtype), format_bytes(p.bytes)});
  for (const mlf::PortInfo& p : m.outputs)
    rows.push_back({"  output", shown(p.name), shown(p.dtype), format_bytes(p.bytes)});
  if (!rows.empty()) print_out("{}", format_table(rows));
  if (m.functions.empty()) return;
  rows = {{"  operator function", "device", "workspace"}};
  for (const mlf::FunctionWorkspace& f : m.functions)
    rows.push_back({"  " + shown(f.name), fmt::format("{}", f.device), format_bytes(f.bytes)});
  print_out("{}", format_table(rows));
}

void print_operators(const std::vector<mlf::OperatorInfo>& operators) {
  for (const mlf::OperatorInfo& op : operators) {
    print_out("function {}\n", shown(op.name));
    std::vector<std::vector<std::string>> rows;
    for (size_t i = 0; i < op.parameters.size(); ++i) {
      const mlf::OperatorParameter& p = op.parameters[i];
      rows.push_back({fmt::format("  {}", i), p.binding.empty() ? "-" : shown(p.binding), shown(p.dtype),
                      fmt::format("{}", fmt::join(p.shape, "x")), format_bytes(p.bytes)});
    }
    if (!rows.empty()) print_out("{}", format_table(rows));
  }
}

int inspect(const MlfOptions& options) {
  Diagnostics diags;
  auto archive = open(options.archive, options.style, diags);
  if (!archive) return fail(diags);
  if (options.json) {
    print_out("{}\n", json_text(archive->metadata, 2));
    return kExitDone;
  }
  print_out("{}: Model Library Format version {}, style {}\n", shown(options.archive), archive->version,
            archive->style);
  for (const mlf::ModuleInfo& m : mlf::modules_of(*archive)) print_module(m);
  print_operators(mlf::operators_of(*archive));
  if (archive->files.empty()) return kExitDone;
  std::vector<std::vector<std::string>> rows = {{"file", "bytes"}};
  for (const auto& [name, data] : archive->files) rows.push_back({shown(name), fmt::format("{}", data.size())});
  print_out("{}", format_table(rows));
  return kExitDone;
}

int extract(const MlfOptions& options) {
  Diagnostics diags;
  auto archive = mlf::read_archive(options.archive, diags, options.style);
  if (!archive) return fail(diags);
  // Without a list of files, which would be one more: what is there may only be the same.
  OutputDirectory directory(options.directory, "", options.force);
  for (const auto& [name, data] : archive->files) directory.add(name, std::string(data.begin(), data.end()));
  size_t count = archive->files.size();
  archive->files.clear();
  if (!directory.commit(diags)) return fail(diags);
  print_diagnostics(diags);
  print_out("wrote {}/ ({} files)\n", options.directory, count);
  return kExitDone;
}

std::string short_value(const Json& value) { return shown(json_text(value)); }

void print_difference(const mlf::Difference& d) {
  for (const mlf::MetadataChange& c : d.metadata) {
    if (!c.a) print_out("metadata {}: only in the second: {}\n", shown(c.path), short_value(*c.b));
    else if (!c.b) print_out("metadata {}: only in the first: {}\n", shown(c.path), short_value(*c.a));
    else print_out("metadata {}: {} -> {}\n", shown(c.path), short_value(*c.a), short_value(*c.b));
  }
  for (const std::string& name : d.removed) print_out("file {}: only in the first\n", shown(name));
  for (const std::string& name : d.added) print_out("file {}: only in the second\n", shown(name));
  for (const mlf::FileChange& c : d.changed)
    print_out("file {}: the first difference is at byte {} ({} and {})\n", shown(c.name), c.first,
              exact_bytes(static_cast<int64_t>(c.size_a)), exact_bytes(static_cast<int64_t>(c.size_b)));
}

int diff(const MlfOptions& options) {
  Diagnostics diags;
  auto a = open(options.archive, "", diags);
  auto b = open(options.other, "", diags);
  if (!a || !b) return fail(diags, kExitTrouble);
  mlf::Difference d = mlf::difference(*a, *b);
  if (options.json) print_out("{}\n", json_text(mlf::json_of(d), 1));
  else print_difference(d);
  if (!options.json && a->files.empty() != b->files.empty())
    print_err("note: one of the two is only metadata, so files were not compared\n");
  return d.equal() ? 0 : 1;
}

options::Option style_option(MlfOptions& o) {
  return {.names = "--style",
          .target = options::one_of(&o.style, {std::string(mlf::kFullModel), std::string(mlf::kOperator)}),
          .help = "Accept only an archive of this style"};
}

options::Option archive_argument(const char* name, std::string& path, const char* help) {
  return {.names = name, .target = &path, .help = help, .required = true, .takes = options::Takes::kFile};
}

options::Command inspect_declaration() {
  auto o = std::make_shared<MlfOptions>();
  return {.name = "inspect",
          .summary = "Print the metadata of an archive",
          .options = {archive_argument("ARCHIVE", o->archive, "An archive, or a metadata.json"),
                      {.names = "--json", .target = &o->json, .help = "Print the metadata as JSON"},
                      style_option(*o)},
          .run = [o] { return inspect(*o); }};
}

options::Command extract_declaration() {
  auto o = std::make_shared<MlfOptions>();
  return {.name = "extract",
          .summary = "Unpack an archive into a new directory",
          .options = {archive_argument("ARCHIVE", o->archive, "An archive"),
                      {.names = "-o,--directory",
                       .value = "DIRECTORY",
                       .target = &o->directory,
                       .help = "Write this directory",
                       .required = true,
                       .takes = options::Takes::kDirectory},
                      {.names = "--force", .target = &o->force, .help = "Replace a directory that is not empty"},
                      style_option(*o)},
          .run = [o] { return extract(*o); }};
}

options::Command diff_declaration() {
  auto o = std::make_shared<MlfOptions>();
  return {.name = "diff",
          .summary = "Compare two archives; exit with 0 if they are equal, 1 if they differ, 2 after an error",
          .options = {archive_argument("A", o->archive, "An archive, or a metadata.json"),
                      archive_argument("B", o->other, "The archive or metadata.json to compare with A"),
                      {.names = "--json", .target = &o->json, .help = "Print the differences as JSON"}},
          .run = [o] { return diff(*o); }};
}

}  // namespace

options::Command mlf_declaration() {
  return {.name = "mlf",
          .summary = "Inspect, unpack and compare Model Library Format archives",
          .commands = {inspect_declaration(), extract_declaration(), diff_declaration()}};
}

}  // namespace aotc::driver
