// SPDX-License-Identifier: Apache-2.0
#include "commands.h"

#include <algorithm>
#include <memory>

#include <clang/StaticAnalyzer/Frontend/FrontendActions.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "clang_files.h"
#include "clang_job.h"
#include "compiled_sources.h"
#include "machine/size.h"
#include "output.h"
#include "support/json.h"
#include "support/streams.h"
#include "support/text.h"
#include "worker.h"

namespace aotc::analyze {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kExitDone = 0, kExitBadInput = 1, kExitFound = 3, kExitToolMissing = 5;
// Of processor time, over all files.
constexpr unsigned kCompileSeconds = 120, kAnalyseSeconds = 600;

struct SourceOptions {
  std::vector<std::string> files, flags, include_dirs, defines;
  std::string map, root, strip;
  bool json = false, strict = false;
};

// Runs `work` where it may die, and says of what it did.
int guarded(const char* what, unsigned seconds, const std::function<int(Worker&, const std::string&)>& work) {
  const std::string headers = clang_headers();
  if (headers.empty()) {
    print_err(
        "aotc-analyze: error: aotc-analyze did not find the headers of Clang beside its library [tool-missing]\n"
        "  help: install the headers (Debian: libclang-common-19-dev)\n");
    return kExitToolMissing;
  }
  const Worker::Outcome outcome =
      Worker().run([&](Worker& worker) { return finish_streams(work(worker, headers)); }, seconds);
  if (outcome.failed.empty()) return outcome.exit_code;
  Findings failure;
  failure.messages.push_back({outcome.during, 0, 0, Severity::kError, "operator-source",
                              fmt::format("'aotc-analyze {1}': Clang {0} on this source", outcome.failed, what)});
  print_err("{}", diagnostics_of(failure).str());
  return kExitBadInput;
}

ClangJob job_of(const SourceOptions& o, const std::string& headers) {
  ClangJob job;
  job.flags = {"-O2", "-ffp-contract=off", "-Wall", "-Wextra"};
  job.flags.insert(job.flags.end(), o.flags.begin(), o.flags.end());
  job.include_dirs = o.include_dirs;
  job.defines = o.defines;
  job.headers = headers;
  return job;
}

std::string messages_text(const std::vector<SourceMessage>& messages) {
  Findings all;
  all.messages = messages;
  return diagnostics_of(all).str();
}

int64_t warnings_in(const std::vector<SourceMessage>& messages) {
  return std::count_if(messages.begin(), messages.end(),
                       [](const SourceMessage& m) { return m.severity == Severity::kWarning; });
}

Json messages_json(const std::vector<SourceMessage>& messages) {
  Json out = Json::array();
  for (const SourceMessage& m : messages)
    out.push_back({{"severity", m.severity == Severity::kError     ? "error"
                                : m.severity == Severity::kWarning ? "warning"
                                                                   : "note"},
                   {"slug", m.slug},
                   {"message", m.message},
                   {"file", m.file},
                   {"line", m.line},
                   {"column", m.column}});
  return out;
}

// Files below `folder` by their names there.
void strip(const std::string& folder, std::vector<SourceMessage>& messages) {
  for (SourceMessage& m : messages)
    if (!folder.empty() && m.file.starts_with(folder)) m.file = m.file.substr(folder.size());
}

// --- compile -------------------------------------------------------------------------------------

std::vector<std::string> layers_of(const machine::ModelFunctions& model, const std::string& function) {
  auto at = model.layers.find(function.substr(0, function.find('.')));
  return at == model.layers.end() ? std::vector<std::string>() : at->second;
}

std::string frame_text(const CompiledFunction& f) {
  return f.assembly ? "assembly" : f.frame < 0 ? "-" : with_commas(f.frame);
}

std::string chain_text(const CompiledSources& sources, const FrameChain& chain) {
  if (chain.functions.empty()) return "";
  const auto names = [](const std::set<std::string>& set) { return joined({set.begin(), set.end()}, ", "); };
  if (sources.triple.starts_with("avr"))
    return "stack: LLVM does not report what a function pushes on AVR; 'aotc analyze stack' reads it from a linked "
           "program\n";
  std::string out = fmt::format("stack: {} takes {} bytes by these frames: {}\n", chain.functions[0],
                                with_commas(chain.bytes), joined(chain.functions, ", "));
  if (chain.recursion) out += "stack: functions call each other recursively: there is no bound\n";
  if (!chain.assembly.empty())
    out += "stack: these functions are not counted, because their assembly moves the stack pointer: " +
           names(chain.assembly) + "\n";
  if (!chain.elsewhere.empty())
    out +=
        "stack: these functions are not counted, because no source here defines them: " + names(chain.elsewhere) + "\n";
  return out;
}

std::string compiled_text(const CompiledSources& s, const machine::ModelFunctions& model, const FrameChain& chain) {
  std::string out =
      fmt::format("as {} compiles it for {}:\ncode {} bytes, constants {}, data {}, zero {}\n", clang_version(),
                  s.triple, with_commas(s.code), with_commas(s.constants), with_commas(s.data), with_commas(s.zero));
  out += fmt::format("{:>9} {:>9}  function\n", "bytes", "stack");
  for (const CompiledFunction& f : s.functions) {
    const auto layers = layers_of(model, f.name);
    out += fmt::format("{:>9} {:>9}  {}{}\n", with_commas(f.bytes), frame_text(f), escape_for_display(f.name, 80),
                       layers.empty() ? "" : " (" + joined(layers, ", ") + ")");
  }
  out += chain_text(s, chain);
  return out + fmt::format("warnings: {}\n", warnings_in(s.messages));
}

Json compiled_json(const CompiledSources& s, const machine::ModelFunctions& model, const FrameChain& chain) {
  Json j = {{"compiler", clang_version()}, {"target", s.triple}, {"code", s.code},
            {"constants", s.constants},    {"data", s.data},     {"zero", s.zero}};
  j["functions"] = Json::array();
  for (const CompiledFunction& f : s.functions) {
    Json row = {{"name", f.name}, {"file", f.file}, {"bytes", f.bytes}};
    row["stack"] = f.frame < 0 || f.assembly ? Json() : Json(f.frame);
    row["assembly"] = f.assembly;
    const auto layers = layers_of(model, f.name);
    if (!layers.empty()) row["layers"] = layers;
    j["functions"].push_back(std::move(row));
  }
  if (!chain.functions.empty() && !s.triple.starts_with("avr"))
    j["stack"] = {{"root", chain.functions[0]},   {"bytes", chain.bytes},       {"chain", chain.functions},
                  {"recursion", chain.recursion}, {"assembly", chain.assembly}, {"elsewhere", chain.elsewhere}};
  j["messages"] = messages_json(s.messages);
  return j;
}

int compile(const SourceOptions& o) {
  machine::ModelFunctions model;
  if (!o.map.empty()) {
    Diagnostics diags;
    auto read = machine::read_model_functions(o.map, diags);
    if (!read) {
      print_err("{}", diags.str());
      return kExitBadInput;
    }
    model = *read;
  }
  return guarded("compile", kCompileSeconds, [&](Worker& worker, const std::string& headers) {
    CompiledSources s =
        compile_sources(o.files, job_of(o, headers), [&](const std::string& file) { worker.begin(file); });
    strip(o.strip, s.messages);
    worker.speak();
    if (!o.json) print_err("{}", messages_text(s.messages));
    if (s.failed) {
      if (o.json) write_out(aotc::json_text(Json{{"messages", messages_json(s.messages)}}, 1) + "\n");
      return kExitBadInput;
    }
    const std::string root = o.root.empty() && !model.prefix.empty() ? model.prefix + "_run" : o.root;
    const FrameChain chain = root.empty() ? FrameChain() : deepest_chain(s, root);
    write_out(o.json ? aotc::json_text(compiled_json(s, model, chain), 1) + "\n" : compiled_text(s, model, chain));
    return o.strict && warnings_in(s.messages) > 0 ? kExitFound : kExitDone;
  });
}

// --- ranges --------------------------------------------------------------------------------------

// What of the analyser is about values: arithmetic, pointers, bounds, what was never written.
constexpr const char* kCheckers = "core,unix.cstring,alpha.security.ArrayBoundV2,security.FloatLoopCounter";
// Steps in one function: beyond it the analyser finds little more in kernels. What is behind a loop of more turns than
// are tried is looked at, too.
constexpr const char* kEffort = "max-nodes=30000,widen-loops=true";

void analyse(const std::string& file, ClangJob job, std::vector<SourceMessage>& out) {
  job.file = file;
  clang::ento::AnalysisAction action;
  JobMessages said;
  const bool good = run_clang(job,
                              {"--analyze", "--analyzer-output", "text", "-Xclang", "-analyzer-checker", "-Xclang",
                               kCheckers, "-Xclang", "-analyzer-config", "-Xclang", kEffort},
                              action, nullptr, said);
  bool error = false;
  for (SourceMessage& m : said.messages) {
    error |= m.severity == Severity::kError;
    out.push_back(std::move(m));
  }
  if (!good && !error)
    out.push_back(
        {file, 0, 0, Severity::kError, "operator-source", "Clang cannot analyse the source with these flags"});
}

int ranges(const SourceOptions& o) {
  return guarded("ranges", kAnalyseSeconds, [&](Worker& worker, const std::string& headers) {
    std::vector<SourceMessage> messages;
    for (const std::string& file : o.files) {
      worker.begin(file);
      analyse(file, job_of(o, headers), messages);
    }
    strip(o.strip, messages);
    worker.speak();
    const int64_t found = warnings_in(messages);
    const bool failed = std::any_of(messages.begin(), messages.end(),
                                    [](const SourceMessage& m) { return m.severity == Severity::kError; });
    if (o.json) {
      write_out(
          aotc::json_text(
              Json{{"analyser", clang_version()}, {"findings", found}, {"messages", messages_json(messages)}}, 1) +
          "\n");
    } else {
      print_err("{}", messages_text(messages));
      if (!failed)
        write_out(
            fmt::format("{} findings in {} files by the analyser of {}\n", found, o.files.size(), clang_version()));
    }
    return failed ? kExitBadInput : found > 0 ? kExitFound : kExitDone;
  });
}

std::vector<options::Option> options_of(SourceOptions& o) {
  std::vector<options::Option> out = source_options(o.files, o.include_dirs, o.defines);
  out.push_back({.names = "--flag",
                 .value = "FLAG",
                 .target = &o.flags,
                 .help = "Pass this flag to Clang: --flag=-mcpu=cortex-m4"});
  out.push_back({.names = "--strip",
                 .value = "FOLDER/",
                 .target = &o.strip,
                 .help = "Omit this folder from the file names in messages"});
  out.push_back({.names = "--json", .target = &o.json, .help = "Print JSON"});
  return out;
}

}  // namespace

std::vector<options::Option> source_options(std::vector<std::string>& files, std::vector<std::string>& include_dirs,
                                            std::vector<std::string>& defines) {
  return {{.names = "FILE",
           .target = &files,
           .help = "C (.c) or C++ (.cpp, .cc, .cxx) sources",
           .required = true,
           .takes = options::Takes::kFile},
          {.names = "-I",
           .value = "DIR",
           .target = &include_dirs,
           .help = "Search this directory for headers",
           .takes = options::Takes::kDirectory},
          {.names = "-D", .value = "NAME[=VALUE]", .target = &defines, .help = "Define a macro"}};
}

options::Command compile_declaration() {
  auto o = std::make_shared<SourceOptions>();
  options::Command out = {
      .name = "compile",
      .summary = "Compile C sources with Clang for a CPU, and show code sizes, stack frames and warnings",
      .options = options_of(*o),
      .run = [o] { return compile(*o); }};
  out.options.push_back({.names = "--map",
                         .value = "FILE",
                         .target = &o->map,
                         .help = "Read the layer of each function from this NAME.map.json",
                         .takes = options::Takes::kFile});
  out.options.push_back({.names = "--root",
                         .value = "FUNCTION",
                         .target = &o->root,
                         .help = "Add up the stack frames of the call chain that starts at this function"});
  out.options.push_back({.names = "--strict", .target = &o->strict, .help = "Exit with 3 if there is a warning"});
  return out;
}

options::Command ranges_declaration() {
  auto o = std::make_shared<SourceOptions>();
  return {
      .name = "ranges",
      .summary = "Run Clang's static analyser on C sources: divisions by zero, null pointers, indices out of bounds",
      .options = options_of(*o),
      .run = [o] { return ranges(*o); }};
}

}  // namespace aotc::analyze
