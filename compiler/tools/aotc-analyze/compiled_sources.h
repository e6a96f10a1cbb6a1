// SPDX-License-Identifier: Apache-2.0
// Compiles C sources with Clang in this process, and reports the code size and the stack frame of each function. Other
// compilers give other sizes. No compiler knows the stack that inline assembly uses.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "clang_job.h"

namespace aotc::analyze {

struct CompiledFunction {
  std::string name, file;
  int64_t bytes = 0;
  int64_t frame = -1;     // stack bytes; -1: unknown
  bool assembly = false;  // true if it contains assembly that moves the stack pointer
  std::set<std::string> calls;
};

struct CompiledSources {
  std::string triple;
  std::vector<CompiledFunction> functions;  // sorted by size, largest first
  int64_t code = 0, constants = 0, data = 0, zero = 0;
  std::vector<SourceMessage> messages;
  bool failed = false;
};

// `on_file` is called with each file before it is compiled.
CompiledSources compile_sources(const std::vector<std::string>& files, const ClangJob& how,
                                const std::function<void(const std::string&)>& on_file);

// The chain of calls from a function that uses the most stack, and the reached functions whose stack is not included.
struct FrameChain {
  int64_t bytes = 0;
  std::vector<std::string> functions;
  std::set<std::string> assembly, elsewhere;  // not included; elsewhere: defined outside of the sources
  bool recursion = false;
};
FrameChain deepest_chain(const CompiledSources& sources, const std::string& root);

}  // namespace aotc::analyze
