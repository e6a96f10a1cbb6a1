// SPDX-License-Identifier: Apache-2.0
#include "driver/operator_sources.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driver/analyzer.h"
#include "driver/temporary.h"
#include "support/files.h"
#include "support/json.h"
#include "support/process.h"

namespace aotc::driver {

namespace {

using AnalyzerJson = nlohmann::json;

constexpr int kSeconds = 120;

std::string text(const AnalyzerJson& object, const char* key) {
  auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : "";
}

int number(const AnalyzerJson& object, const char* key) {
  auto at = object.find(key);
  return at != object.end() && at->is_number_integer() ? at->get<int>() : 0;
}

bool flag(const AnalyzerJson& object, const char* key) {
  auto at = object.find(key);
  return at != object.end() && at->is_boolean() && at->get<bool>();
}

// The objects of a list; none if there is no such list.
std::vector<const AnalyzerJson*> objects(const AnalyzerJson& object, const char* key) {
  std::vector<const AnalyzerJson*> out;
  auto at = object.find(key);
  if (at == object.end() || !at->is_array()) return out;
  for (const AnalyzerJson& item : *at)
    if (item.is_object()) out.push_back(&item);
  return out;
}

Location place(const AnalyzerJson& object) {
  Location where;
  where.file = text(object, "file");
  where.line = number(object, "line");
  where.column = number(object, "column");
  return where;
}

OperatorFunction function_from(const AnalyzerJson& j) {
  OperatorFunction f;
  f.name = text(j, "name");
  f.where = place(j);
  f.convention = calling_convention_from(text(j, "convention"));
  f.why = text(j, "why");
  f.linkage = text(j, "linkage");
  f.definition = flag(j, "definition");
  f.returns = text(j, "returns");
  for (const AnalyzerJson* p : objects(j, "parameters"))
    f.parameters.push_back({text(*p, "name"), text(*p, "type"), text(*p, "element"), flag(*p, "const")});
  return f;
}

// Messages of aotc-analyze as ours; a note belongs to the message before it.
void report_messages(const AnalyzerJson& all, Diagnostics& diags) {
  Diagnostic* last = nullptr;
  for (const AnalyzerJson* m : objects(all, "diagnostics")) {
    std::string severity = text(*m, "severity"), message = text(*m, "message");
    std::string slug = text(*m, "slug");
    if (severity == "note") {
      if (last != nullptr) last->note(fmt::format("{}: {}", place(*m).str(), message));
      continue;
    }
    last = severity == "error" ? &diags.error(place(*m), slug, message) : &diags.warning(place(*m), slug, message);
    if (message.ends_with("file not found")) last->help("name the directory of the header with --operator-include");
  }
}

// The reader ended without a result: what it said itself is all there is.
Failure analyzer_failed(const std::string& program, const ProcessResult& run, Diagnostics& diags) {
  Location where;
  where.file = program;
  if (!run.started || run.exit_code == 127) {
    diags.error(where, "tool-missing", "the program cannot be started")
        .help("build aotc-analyze again, for this machine");
    return kFailure;
  }
  bool missing = run.output.find("[tool-missing]") != std::string::npos;
  Diagnostic& d = diags.error(where, missing ? "tool-missing" : "internal",
                              run.timed_out ? fmt::format("the program did not end within {} seconds", kSeconds)
                                            : fmt::format("the program gave no result (exit code {})", run.exit_code));
  for (size_t begin = 0; begin < run.output.size() && d.notes.size() < 10;) {
    size_t end = std::min(run.output.find('\n', begin), run.output.size());
    if (end > begin) d.note(escape_for_display(run.output.substr(begin, end - begin), 300));
    begin = end + 1;
  }
  d.help("run 'aotc analyze signatures' on the sources to see all messages");
  return kFailure;
}

}  // namespace

void OperatorSources::add(OperatorFunction function) {
  index_.emplace(function.name, functions_.size());
  functions_.push_back(std::move(function));
}

std::vector<const OperatorFunction*> OperatorSources::find(const std::string& symbol) const {
  std::vector<const OperatorFunction*> out;
  auto [begin, end] = index_.equal_range(symbol);
  for (auto it = begin; it != end; ++it) out.push_back(&functions_[it->second]);
  return out;
}

std::vector<std::string> OperatorSources::names() const {
  std::vector<std::string> out;
  for (const OperatorFunction& f : functions_)
    if (f.definition && f.linkage == "external") out.push_back(f.name);
  return out;
}

Result<OperatorSources> read_operator_sources(const std::vector<std::string>& files,
                                              const std::vector<std::string>& include_dirs, Diagnostics& diags) {
  OperatorSources sources;
  if (files.empty()) return sources;
  auto program = find_analyzer(diags);
  TemporaryDirectory directory;
  if (!program || !directory.made(diags)) return kFailure;
  // Not by standard output: whatever a loader or a sanitizer says would be in it.
  std::string result = directory.path() + "/signatures.json";
  std::vector<std::string> argv = {*program, "signatures", "--json", "-o", result};
  for (const std::string& dir : include_dirs) argv.insert(argv.end(), {"-I", dir});
  argv.push_back("--");
  argv.insert(argv.end(), files.begin(), files.end());
  ProcessResult run = run_process(argv, "", kSeconds);
  Diagnostics unread;
  auto bytes = read_file(result, unread);
  AnalyzerJson all;  // null if it is no JSON
  if (bytes) (void)parse_json({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, all);
  if (!all.is_object()) return analyzer_failed(*program, run, diags);
  int errors = diags.error_count();
  report_messages(all, diags);
  if (diags.error_count() > errors) return kFailure;
  if (run.exit_code != 0) return analyzer_failed(*program, run, diags);
  for (const AnalyzerJson* f : objects(all, "functions")) sources.add(function_from(*f));
  return sources;
}

}  // namespace aotc::driver
