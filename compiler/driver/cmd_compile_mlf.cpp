// SPDX-License-Identifier: Apache-2.0
// compile --format mlf and --style operator: a model, or its operators, as an archive.
#include <cstdlib>
#include <ctime>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driver/commands.h"
#include "driver/summary.h"
#include "mlf/archive.h"
#include "mlf/full_model.h"
#include "mlf/operator_archive.h"
#include "project/embedded.h"
#include "support/json.h"
#include "support/streams.h"

namespace aotc::driver {

namespace {

// Of the interface that crt/ has: TVM_VERSION in its c_runtime_api.h.
constexpr const char* kRuntimeVersion = "0.14.0";
// What the tar format can hold: eleven octal digits.
constexpr int64_t kLastDate = 077777777777;

bool read_number(const std::string& text, int64_t* out) {
  if (text.empty() || text.size() > 12 || text.find_first_not_of("0123456789") != std::string::npos) return false;
  *out = std::stoll(text);
  return *out <= kLastDate;
}

// "2026-11-21 07:25:17Z", "2026-11-21T07:25:17Z", "2026-11-21".
bool read_calendar(const std::string& text, int64_t* out) {
  for (const char* form : {"%Y-%m-%d %H:%M:%SZ", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d"}) {
    std::tm parts{};
    const char* end = strptime(text.c_str(), form, &parts);
    if (end == nullptr || *end != '\0') continue;
    *out = timegm(&parts);
    return *out >= 0 && *out <= kLastDate;
  }
  return false;
}

// Seconds since 1970: what was asked for, else of SOURCE_DATE_EPOCH, else 0. An archive says nothing
// of the day it was made on unless told: then equal input gives equal bytes.
Result<int64_t> date_of(const std::string& asked, Diagnostics& diags) {
  const char* epoch = std::getenv("SOURCE_DATE_EPOCH");
  bool from_environment = asked.empty() && epoch != nullptr;
  std::string text = from_environment ? epoch : asked;
  int64_t date = 0;
  if (text.empty()) return date;
  if (read_number(text, &date) || read_calendar(text, &date)) return date;
  Location where;
  where.file = from_environment ? "SOURCE_DATE_EPOCH" : "--date";
  diags.error(where, "date-invalid", fmt::format("'{}' is not a date", escape_for_display(text)))
      .help("write the seconds since 1970, or a date such as 2026-11-21 or 2026-11-21T07:25:17Z");
  return kFailure;
}

// TVM's text of a target.
std::string target_text(const std::optional<project::Board>& board) {
  if (board && board->cpu.starts_with("cortex")) return "c -keys=arm_cpu,cpu -mcpu=" + board->cpu;
  if (board && board->isa.starts_with("rv")) return "c -keys=cpu -march=" + board->isa;
  return "c -keys=cpu";
}

std::map<std::string, std::string> embedded(const std::string& folder) {
  std::map<std::string, std::string> out;
  for (const project::EmbeddedFile* f : project::embedded_below(folder))
    out[std::string(f->path.substr(folder.size()))] = std::string(f->content);
  return out;
}

// Of the model as it was read. Its file by name only: an archive does not depend on the folder that
// the model lay in.
std::string graph_text(const Compiled& compiled) {
  graph::Graph graph = compiled.original;
  auto shorten = [](std::string& path) { path = std::filesystem::path(path).filename().string(); };
  shorten(graph.source_file);
  for (graph::Op& op : graph.ops) shorten(op.location.file);
  return graph::print(graph);
}

// Who reads such archives looks for TVM's entry point, unless something else was asked for.
CompileOptions with_interface(CompileOptions options) {
  bool overwrites = options.inputs == plan::Contract::kOverwrite || options.outputs == plan::Contract::kOverwrite;
  if (!options.given.contains("--interface") && !overwrites) options.tvm_interface = true;
  return options;
}

int compile_full_model(const CompileOptions& given, const MlfChoice& choice, const std::string& out,
                       const CommonOptions& common) {
  Diagnostics diags;
  CompileOptions options = with_interface(given);
  auto date = date_of(choice.date, diags);
  if (!date) return fail(diags);
  auto compiled = compile_model(options, diags);
  if (!compiled) return fail(diags);
  mlf::FullModel model;
  model.prefix = compiled->prefix;
  model.program = &compiled->program;
  model.c = &compiled->c;
  model.memory = options.memory;
  model.graph_text = graph_text(*compiled);
  model.targets = {target_text(compiled->board)};
  model.runtime_version = kRuntimeVersion;
  model.runtime = embedded("crt/");
  model.templates = embedded("templates/mlf/");
  model.date = *date;
  std::string path = out.empty() ? compiled->prefix + ".tar" : out;
  auto files = mlf::full_model_files(model);
  if (!mlf::write_archive(path, files, *date, diags)) return fail(diags);
  print_diagnostics(diags);
  if (common.json) {
    auto j = summary_json(*compiled);
    j["archive"] = path;
    print_out("{}\n", json_text(j, 1));
    return kExitDone;
  }
  print_out("{}", summary_text(*compiled));
  print_out("wrote {} ({} files)\nnext: aotc mlf inspect {}\n", path, files.size(), shell_quoted(path));
  return kExitDone;
}

nlohmann::ordered_json operators_json(const std::vector<mlf::OperatorEntry>& entries, const Compiled& compiled) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const mlf::OperatorEntry& e : entries) {
    nlohmann::ordered_json ops = nlohmann::ordered_json::array();
    for (int i : e.ops) ops.push_back(compiled.program.graph.ops[static_cast<size_t>(i)].location.op_index);
    out.push_back({{"name", e.name}, {"ops", ops}});
  }
  return out;
}

int compile_operators(const CompileOptions& options, const MlfChoice& choice, const std::string& out,
                      const CommonOptions& common) {
  Diagnostics diags;
  auto date = date_of(choice.date, diags);
  if (!date) return fail(diags);
  auto compiled = compile_model(options, diags);
  if (!compiled) return fail(diags);
  mlf::OperatorChoice wanted;
  wanted.target = compiled->plan_options.target;
  wanted.schedules = compiled->options.schedules;
  wanted.wanted = choice.ops;
  const auto& devices = compiled->program.devices;
  auto entries = mlf::collect_operators(compiled->program.graph, wanted, devices, diags);
  if (!entries) return fail(diags);
  mlf::OperatorArchive archive;
  archive.name = compiled->prefix;
  archive.targets = {target_text(compiled->board)};
  archive.date = *date;
  archive.kernels = options.kernels;
  archive.version = kVersion;
  auto files = mlf::operator_files(*entries, devices, archive, diags);
  if (!files) return fail(diags);
  std::string path = out.empty() ? compiled->prefix + ".tar" : out;
  if (!mlf::write_archive(path, *files, *date, diags)) return fail(diags);
  print_diagnostics(diags);
  auto list = operators_json(*entries, *compiled);
  if (common.json) {
    print_out("{}\n", json_text(nlohmann::ordered_json({{"archive", path}, {"operators", list}}), 1));
    return kExitDone;
  }
  std::vector<std::vector<std::string>> rows = {{"function", "operators of the model"}};
  for (const auto& e : list) {
    std::vector<int> ops = e["ops"];
    rows.push_back({e["name"], fmt::format("{}", fmt::join(ops, ", "))});
  }
  print_out("{}wrote {} ({} functions)\nnext: aotc mlf inspect {}\n", format_table(rows), path, entries->size(),
            shell_quoted(path));
  return kExitDone;
}

}  // namespace

std::vector<options::Option> mlf_options(MlfChoice& choice) {
  options::Choice style = options::one_of(&choice.style, {std::string(mlf::kFullModel), std::string(mlf::kOperator)});
  style.preset = mlf::kFullModel;
  return {{.names = "--format",
           .target = options::one_of(&choice.format, {"c", "mlf"}),
           .help = "c: write a directory of C files. mlf: write an archive in TVM's Model Library Format",
           .see = "mlf.md"},
          {.names = "--style",
           .target = std::move(style),
           .help = "full-model: put the whole model into the archive. operator: put each operator into the archive as "
                   "a separate packed function"},
          {.names = "--op",
           .value = "INDEX|TYPE",
           .target = &choice.ops,
           .help = "With --style operator: export only the operator with this index in the model's file, or the "
                   "operators of this type"},
          {.names = "--date",
           .value = "DATE",
           .target = &choice.date,
           .help = "Set the date in the archive (default: SOURCE_DATE_EPOCH, or 1970-01-01)"}};
}

int compile_mlf_command(const CompileOptions& options, const MlfChoice& choice, const std::string& out,
                        const CommonOptions& common) {
  if (choice.style == mlf::kOperator) {
    // They belong to the run function, which such an archive does not have.
    bool of_run = options.tvm_interface || !options.pools.empty() ||
                  options.convention == CallingConvention::kRegistry || !options.constants_section.empty();
    if (of_run) {
      print_err(
          "aotc: --style operator excludes --interface, --pool, --constants-section and --calling-convention registry: "
          "these options need a whole model\n");
      return kExitUsage;
    }
    return compile_operators(options, choice, out, common);
  }
  if (!choice.ops.empty()) {
    print_err("aotc: --op needs --style operator\n");
    return kExitUsage;
  }
  return compile_full_model(options, choice, out, common);
}

}  // namespace aotc::driver
