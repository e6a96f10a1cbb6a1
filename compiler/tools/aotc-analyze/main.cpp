// SPDX-License-Identifier: Apache-2.0
// aotc-analyze: reads C and C++ sources by Clang for aotc, which starts it as git starts its
// subcommands, and linked programs by LLVM's disassembler. The only program here that links LLVM.
#include <exception>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "clang_files.h"
#include "clang_reader.h"
#include "commands.h"
#include "llvm_machine.h"
#include "machine/commands.h"
#include "options/options.h"
#include "output.h"
#include "signature.h"
#include "support/files.h"
#include "support/json.h"
#include "support/streams.h"
#include "worker.h"

namespace aotc::analyze {

namespace {

constexpr int kExitDone = 0, kExitBadInput = 1, kExitUsage = 2, kExitToolMissing = 5, kExitInternal = 70;

struct Options {
  std::vector<std::string> files;
  ReadOptions read;
  std::string out;
  bool json = false;
};

// Prints all that is known and gives the exit code.
int print(const Options& options, const Findings& findings) {
  if (!options.json) print_err("{}", diagnostics_of(findings).str());
  std::string text = options.json ? json_text(findings) : lines_text(findings);
  Diagnostics diags;
  if (!options.out.empty()) {
    if (!write_file(options.out, text, diags)) {
      print_err("{}", diags.str());
      return kExitBadInput;
    }
  } else {
    write_out(text);
  }
  // Here, because the worker ends without flushing.
  return finish_streams(findings.has_errors() ? kExitBadInput : kExitDone);
}

int signatures(const Options& options) {
  std::string headers = clang_headers();
  if (headers.empty()) {
    print_err(
        "aotc-analyze: error: aotc-analyze did not find the headers of Clang beside its library "
        "[tool-missing]\n  help: install the headers (Debian: libclang-common-19-dev)\n");
    return kExitToolMissing;
  }
  Worker::Outcome outcome = Worker().run([&](Worker& worker) {
    Findings findings =
        read_sources(options.files, options.read, headers, [&](const std::string& file) { worker.begin(file); });
    merge_symbols(findings);
    worker.speak();
    return print(options, findings);
  });
  if (outcome.failed.empty()) return outcome.exit_code;
  Findings failure;
  failure.messages.push_back({outcome.during, 0, 0, Severity::kError, "operator-source",
                              fmt::format("Clang {} on this source", outcome.failed)});
  return print(options, failure);
}

options::Command command_line(Options& o) {
  const auto by_llvm = [](const std::string&) { return llvm_decoder(); };
  options::Command signature_lister = {
      .name = "signatures",
      .summary = "List every function with its position, calling convention and signature",
      .options = source_options(o.files, o.read.include_dirs, o.read.defines),
      .run = [&o] { return signatures(o); }};
  signature_lister.options.push_back({.names = "-o",
                                      .value = "FILE",
                                      .target = &o.out,
                                      .help = "Write to this file instead of standard output",
                                      .takes = options::Takes::kFile});
  signature_lister.options.push_back(
      {.names = "--json", .target = &o.json, .help = "Print JSON, which includes the messages"});
  return {
      .name = "aotc analyze",
      .summary = "Read operator libraries in C and C++ for aotc",
      .commands = {std::move(signature_lister), compile_declaration(), ranges_declaration(), model_cycles_declaration(),
                   machine::stack_declaration(by_llvm), machine::size_declaration(by_llvm)},
      .version = "aotc-analyze " AOTC_VERSION,
      .exit_codes = {{kExitDone, "done"},
                     {kExitBadInput, "a source does not compile"},
                     {kExitUsage, "wrong usage"},
                     {kExitToolMissing, "Clang is incomplete"}}};
}

}  // namespace

}  // namespace aotc::analyze

int main(int argc, char** argv) {
  using namespace aotc::analyze;
  aotc::prepare_streams();
  int code = kExitInternal;
  try {
    Options options;
    code = aotc::options::run(command_line(options), {argv + 1, argv + argc});
  } catch (const std::exception& e) {
    aotc::print_err("aotc-analyze: internal error: {} [internal]\n", aotc::json_reason(e.what()));
  }
  return aotc::finish_streams(code);
}
