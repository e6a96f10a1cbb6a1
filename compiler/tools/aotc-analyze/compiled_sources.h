// SPDX-License-Identifier: Apache-2.0
// Compiles C sources in this process and reports bytes and frames of their functions. Both are Clang's; other compilers
// differ, and no compiler knows the frame of assembly.
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
  int64_t frame = -1;     // bytes of stack; -1: unknown
  bool assembly = false;  // contains assembly that moves the stack pointer
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

// The deepest chain of calls from a function by the frames above, and the functions that it does not include.
struct FrameChain {
  int64_t bytes = 0;
  std::vector<std::string> functions;
  std::set<std::string> assembly, elsewhere;  // reached functions; elsewhere: defined outside of the sources
  bool recursion = false;
};
FrameChain deepest_chain(const CompiledSources& sources, const std::string& root);

}  // namespace aotc::analyze
