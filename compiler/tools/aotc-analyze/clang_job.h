// SPDX-License-Identifier: Apache-2.0
// Runs Clang in this process, with the flags of its command line. Clang reads the embedded headers of the C library
// (clang_files.h), and no system folder.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <clang/Frontend/FrontendAction.h>
#include <llvm/Support/raw_ostream.h>

#include "signature.h"

namespace aotc::analyze {

struct ClangJob {
  std::string file;
  std::vector<std::string> flags;  // "-mcpu=cortex-m4", "--target=avr"
  std::vector<std::string> include_dirs, defines;
  std::string headers;  // clang_headers()
};

// Clang's messages, and the sizes of stack frames, which Clang reports as remarks.
struct JobMessages {
  std::vector<SourceMessage> messages;
  std::vector<std::pair<std::string, int64_t>> frames;  // function and bytes of its frame
};

// Runs `action` on one file; true if there was no error. `mode`: "-c" or "--analyze", with its options. `out`: receives
// the output of the action; null if it has none.
bool run_clang(const ClangJob& job, const std::vector<std::string>& mode, clang::FrontendAction& action,
               std::unique_ptr<llvm::raw_pwrite_stream> out, JobMessages& to);

// "Clang 19.1.7".
std::string clang_version();

}  // namespace aotc::analyze
