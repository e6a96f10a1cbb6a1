// SPDX-License-Identifier: Apache-2.0
// Reads sources with Clang. A hostile source can still make Clang crash or run without end, so call it in a process
// that may die (see worker.h).
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

// Every function that is defined or declared in one of `files`, and every external definition in a file that one of
// them includes; implicit ones, members and templates are omitted. Files are C unless their extension is one of C++. A
// source with errors gives only messages. Conventions are set; symbols of several files are not merged. `on_file` is
// called with each file before it is read.
Findings read_sources(const std::vector<std::string>& files, const ReadOptions& options, const std::string& headers,
                      const std::function<void(const std::string&)>& on_file);

}  // namespace aotc::analyze
