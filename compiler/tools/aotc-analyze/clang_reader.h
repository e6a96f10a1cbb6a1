// SPDX-License-Identifier: Apache-2.0
// Reads C and C++ sources with Clang. A hostile source can make Clang crash or run without end, so call read_sources in
// a process that may die (worker.h).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "signature.h"

namespace aotc::analyze {

struct ReadOptions {
  std::vector<std::string> include_dirs;  // searched before the headers of the C runtime
  std::vector<std::string> defines;       // "NAME" or "NAME=VALUE"
};

// Returns every function that is defined or declared in one of `files`, and every external definition in a file that
// they include. Implicit functions, member functions and templates are omitted. A file is C unless its extension is one
// of C++. For a source with errors, the findings have only messages. The calling convention of each function is set,
// but the symbols of several files are not merged. `headers`: clang_headers(). `on_file` is called with each file
// before it is read.
Findings read_sources(const std::vector<std::string>& files, const ReadOptions& options, const std::string& headers,
                      const std::function<void(const std::string&)>& on_file);

}  // namespace aotc::analyze
