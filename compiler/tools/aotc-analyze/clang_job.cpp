// SPDX-License-Identifier: Apache-2.0
#include "clang_job.h"

#include <clang/Basic/Diagnostic.h>
#include <clang/Basic/DiagnosticIDs.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Basic/Version.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/Utils.h>

#include "clang_files.h"
#include "machine/value.h"

namespace aotc::analyze {

namespace {

// Keeps what has a place or is an error: what the driver says of a missing sysroot is expected.
class JobConsumer : public clang::DiagnosticConsumer {
 public:
  JobConsumer(std::string unit, JobMessages& out) : unit_(std::move(unit)), out_(out) {}

  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override {
    DiagnosticConsumer::HandleDiagnostic(level, info);
    using Level = clang::DiagnosticsEngine::Level;
    llvm::SmallString<200> text;
    info.FormatDiagnostic(text);
    if (level == Level::Remark) return frame_of(text.str().str());
    const bool placed = info.hasSourceManager() && info.getLocation().isValid();
    if (level == Level::Ignored || (level != Level::Note && level < Level::Error && !placed)) return;
    if (level == Level::Note && out_.messages.empty()) return;
    SourceMessage m;
    m.file = unit_;
    m.severity = level == Level::Note ? Severity::kNote : level >= Level::Error ? Severity::kError : Severity::kWarning;
    m.message = text.str().str();
    m.slug = level == Level::Note ? "" : level >= Level::Error ? "operator-source" : option_of(info, m.message);
    if (placed) {
      const clang::SourceManager& sources = info.getSourceManager();
      const clang::PresumedLoc where = sources.getPresumedLoc(sources.getExpansionLoc(info.getLocation()));
      if (where.isValid()) {
        m.file = where.getFilename();
        m.line = static_cast<int>(where.getLine());
        m.column = static_cast<int>(where.getColumn());
      }
    }
    out_.messages.push_back(std::move(m));
  }

 private:
  // "40 stack bytes in function 'add'".
  void frame_of(const std::string& text) {
    constexpr std::string_view kMiddle = " stack bytes in function '";
    const size_t at = text.find(kMiddle);
    const auto bytes = at == std::string::npos ? std::nullopt : machine::number_in(text.substr(0, at));
    if (!bytes || !text.ends_with("'")) return;
    const size_t begin = at + kMiddle.size();
    out_.frames.emplace_back(text.substr(begin, text.size() - 1 - begin), *bytes);
  }

  // "-Wconversion", as compilers write it; the checker that the analyser names behind what it found: "...
  // [core.DivideZero]".
  static std::string option_of(const clang::Diagnostic& info, std::string& message) {
    const llvm::StringRef option = clang::DiagnosticIDs::getWarningOptionForDiag(info.getID());
    if (!option.empty()) return "-W" + option.str();
    const size_t at = message.rfind(" [");
    if (at == std::string::npos || !message.ends_with("]")) return "clang";
    std::string checker = message.substr(at + 2, message.size() - at - 3);
    message.resize(at);
    return checker;
  }

  std::string unit_;
  JobMessages& out_;
};

std::vector<std::string> arguments(const ClangJob& job, const std::vector<std::string>& mode) {
  std::vector<std::string> args = {"clang"};
  args.insert(args.end(), mode.begin(), mode.end());
  args.insert(args.end(), {"-resource-dir", job.headers, "-nostdlibinc", "-fno-caret-diagnostics"});
  args.push_back(language_of(job.file) == Language::kC ? "-std=gnu11" : "-std=gnu++17");
  args.insert(args.end(), job.flags.begin(), job.flags.end());
  for (const std::string& dir : job.include_dirs) args.push_back("-I" + dir);
  for (const std::string& define : job.defines) args.push_back("-D" + define);
  args.insert(args.end(), {"-isystem", kRuntimeDir, "-isystem", kLibraryDir});
  // A name that begins like an option would be one to Clang.
  args.push_back(job.file.starts_with("-") ? "./" + job.file : job.file);
  return args;
}

}  // namespace

bool run_clang(const ClangJob& job, const std::vector<std::string>& mode, clang::FrontendAction& action,
               std::unique_ptr<llvm::raw_pwrite_stream> out, JobMessages& to) {
  const std::string why = unreadable(job.file);
  if (!why.empty()) {
    to.messages.push_back({job.file, 0, 0, Severity::kError, "file-read", why});
    return false;
  }
  if (language_of(job.file) == Language::kNone) {
    to.messages.push_back({job.file, 0, 0, Severity::kError, "operator-source",
                           "the file is neither a C source (.c) nor a C++ source (.cpp, .cc, .cxx)"});
    return false;
  }
  const std::vector<std::string> args = arguments(job, mode);
  std::vector<const char*> words;
  for (const std::string& arg : args) words.push_back(arg.c_str());
  auto files = files_with_runtime(true);
  JobConsumer consumer(job.file, to);
  auto options = llvm::makeIntrusiveRefCnt<clang::DiagnosticOptions>();
  clang::CreateInvocationOptions how;
  how.Diags = clang::CompilerInstance::createDiagnostics(options.get(), &consumer, false);
  how.VFS = files;
  std::shared_ptr<clang::CompilerInvocation> invocation = clang::createInvocation(words, how);
  if (!invocation) return false;
  clang::CompilerInstance compiler;
  compiler.setInvocation(invocation);
  compiler.setFileManager(new clang::FileManager(clang::FileSystemOptions(), files));
  compiler.createDiagnostics(&consumer, false);
  if (out) compiler.setOutputStream(std::move(out));
  return compiler.ExecuteAction(action) && consumer.getNumErrors() == 0;
}

std::string clang_version() { return "Clang " CLANG_VERSION_STRING; }

}  // namespace aotc::analyze
