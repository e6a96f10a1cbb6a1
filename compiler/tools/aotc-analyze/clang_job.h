// SPDX-License-Identifier: Apache-2.0
// One run of Clang in this process, with the flags of its command line. The one thing to know: it sees
// declarations of the C library that are in this program (c_headers.h), and no folder of the system.
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

// What Clang said, with the sizes of frames, which it says as remarks.
struct JobMessages {
  std::vector<SourceMessage> messages;
  std::vector<std::pair<std::string, int64_t>> frames;  // bytes of a function's
};

// Whether it ended without an error. `out`: where the action writes; null where it writes nothing. `mode`: "-c"
// or "--analyze", with what belongs to it.
bool run_clang(const ClangJob& job, const std::vector<std::string>& mode, clang::FrontendAction& action,
               std::unique_ptr<llvm::raw_pwrite_stream> out, JobMessages& to);

// "Clang 19.1.7".
std::string clang_version();

}  // namespace aotc::analyze
