// compile --format mlf and --style operator: a model, or its operators, as an archive.
#include <cstdlib>
#include <ctime>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "driver/commands.h"
#include "driver/summary.h"
#include "mlf/archive.h"
#include "mlf/full_model.h"
#include "project/embedded.h"

namespace aotc::driver {

namespace {

// Of the interface that crt/ has: TVM_VERSION in its c_runtime_api.h.
constexpr const char* kRuntimeVersion = "0.14.0";
// What the tar format can hold: eleven octal digits.
constexpr int64_t kLastDate = 077777777777;

int fail(const Diagnostics& diags, int code = kExitBadInput) {
  print_diagnostics(diags);
  return exit_code_of(diags, code);
}

bool read_number(const std::string& text, int64_t* out) {
  if (text.empty() || text.size() > 12 || text.find_first_not_of("0123456789") != std::string::npos)
    return false;
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
  diags.error(where, "date-invalid", fmt::format("'{}' is no date", escape_for_display(text)))
      .help("write seconds since 1970, or a date like 2026-11-21 or 2026-11-21T07:25:17Z");
  return kFailure;
}

// TVM's text of a target.
std::string target_text(const std::optional<project::Board>& board) {
  if (board && board->cpu.starts_with("cortex"))
    return "c -keys=arm_cpu,cpu -mcpu=" + board->cpu;
  if (board && board->isa.starts_with("rv")) return "c -keys=cpu -march=" + board->isa;
  return "c -keys=cpu";
}

std::map<std::string, std::string> embedded(const std::string& folder) {
  std::map<std::string, std::string> out;
  for (const project::EmbeddedFile* f : project::embedded_below(folder))
    out[std::string(f->path.substr(folder.size()))] = std::string(f->content);
  return out;
}

Status write(const std::string& path, const std::map<std::string, std::string>& files, int64_t date,
             Diagnostics& diags) {
  return mlf::write_archive(path, files, date, diags);
}

int compile_full_model(const CompileOptions& options, const MlfChoice& choice,
                       const std::string& out, const CommonOptions& common) {
  Diagnostics diags;
  auto date = date_of(choice.date, diags);
  if (!date) return fail(diags);
  auto compiled = compile_model(options, diags);
  if (!compiled) return fail(diags);
  mlf::FullModel model;
  model.name = compiled->prefix;
  model.program = &compiled->program;
  model.c = &compiled->c;
  model.memory = options.memory;
  model.graph_text = graph::print(compiled->original);
  model.targets = {target_text(compiled->board)};
  model.runtime_version = kRuntimeVersion;
  model.runtime = embedded("crt/");
  model.templates = embedded("templates/mlf/");
  model.date = *date;
  std::string path = out.empty() ? compiled->prefix + ".tar" : out;
  auto files = mlf::full_model_files(model);
  if (!write(path, files, *date, diags)) return fail(diags);
  print_diagnostics(diags);
  if (common.json) {
    auto j = summary_json(*compiled);
    j["archive"] = path;
    fmt::print("{}\n", j.dump(1));
    return kExitDone;
  }
  fmt::print("{}", summary_text(*compiled));
  fmt::print("wrote {} ({} files)\nnext: aotc mlf inspect {}\n", path, files.size(),
             shell_quoted(path));
  return kExitDone;
}

}  // namespace

void add_mlf_options(CLI::App* sub, MlfChoice& choice) {
  sub->add_option("--format", choice.format,
                  "What is written: c (a directory of C files, default) or mlf (a Model Library "
                  "Format archive)")
      ->check(CLI::IsMember({"c", "mlf"}));
  sub->add_option("--date", choice.date,
                  "Date in the archive (default: SOURCE_DATE_EPOCH, or 1970-01-01)");
}

int compile_mlf_command(const CompileOptions& options, const MlfChoice& choice,
                        const std::string& out, const CommonOptions& common) {
  return compile_full_model(options, choice, out, common);
}

}  // namespace aotc::driver
