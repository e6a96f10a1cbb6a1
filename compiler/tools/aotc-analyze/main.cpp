// SPDX-License-Identifier: Apache-2.0
// aotc-analyze: reads C and C++ sources by Clang for aotc, which starts it as git starts its
// subcommands. The only program here that links LLVM.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "clang_reader.h"
#include "convention.h"
#include "output.h"
#include "support/files.h"
#include "worker.h"

namespace aotc::analyze {

namespace {

constexpr int kExitDone = 0, kExitBadInput = 1, kExitUsage = 2, kExitToolMissing = 5,
              kExitInternal = 70;

struct Options {
  std::vector<std::string> files;
  ReadOptions read;
  std::string out;
  bool json = false;
};

// Prints all that is known and gives the exit code.
int print(const Options& options, const Findings& findings) {
  if (!options.json) fmt::print(stderr, "{}", diagnostics_of(findings).str());
  std::string text = options.json ? json_text(findings) : lines_text(findings);
  Diagnostics diags;
  if (!options.out.empty()) {
    if (!write_file(options.out, text, diags)) {
      fmt::print(stderr, "{}", diags.str());
      return kExitBadInput;
    }
  } else {
    // Not by fmt, which throws.
    std::fwrite(text.data(), 1, text.size(), stdout);
    if (std::fflush(stdout) != 0) {
      fmt::print(stderr, "standard output: error: cannot write: {} [file-write]\n",
                 std::strerror(errno));
      return kExitBadInput;
    }
  }
  return findings.has_errors() ? kExitBadInput : kExitDone;
}

int signatures(const Options& options) {
  std::string headers = clang_headers();
  if (headers.empty()) {
    fmt::print(stderr,
               "aotc-analyze: error: the headers of Clang were not found beside its library "
               "[tool-missing]\n  help: install them (Debian: libclang-common-19-dev)\n");
    return kExitToolMissing;
  }
  Worker::Outcome outcome = Worker().run([&](Worker& worker) {
    Findings findings = read_sources(options.files, options.read, headers,
                                     [&](const std::string& file) { worker.begin(file); });
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

int run(int argc, char** argv) {
  CLI::App app("Reads operator libraries in C and C++ for aotc.", "aotc analyze");
  app.require_subcommand(1);
  app.set_version_flag("--version", "aotc-analyze " AOTC_VERSION);
  app.footer("Exit codes: 0 done, 1 a source does not compile, 2 usage, 5 Clang is incomplete.");
  Options options;
  int result = kExitDone;
  CLI::App* sub = app.add_subcommand(
      "signatures", "Every function with its place, calling convention and signature");
  sub->add_option("FILE", options.files, "C (.c) or C++ (.cpp, .cc, .cxx) sources")->required();
  sub->add_option("-I", options.read.include_dirs, "Directory to search for headers")
      ->allow_extra_args(false);
  sub->add_option("-D", options.read.defines, "NAME or NAME=VALUE: define a macro")
      ->allow_extra_args(false);
  sub->add_option("-o", options.out, "Write to this file instead of standard output");
  sub->add_flag("--json", options.json, "Print JSON, with the messages in it");
  sub->callback([&] { result = signatures(options); });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? kExitDone : kExitUsage;
  }
  return result;
}

}  // namespace

}  // namespace aotc::analyze

int main(int argc, char** argv) {
  using namespace aotc::analyze;
  std::signal(SIGPIPE, SIG_IGN);
  try {
    int code = run(argc, argv);
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
    fmt::print(stderr, "standard output: error: cannot write: {} [file-write]\n",
               std::strerror(errno));
    return kExitBadInput;
  } catch (const std::exception& e) {
    fmt::print(stderr, "aotc-analyze: internal error: {} [internal]\n", e.what());
    return kExitInternal;
  }
}
