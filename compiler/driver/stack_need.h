// SPDX-License-Identifier: Apache-2.0
// How many bytes of stack one run of a model takes at most. The one thing to know: it is a bound from
// the call graph that the board's own compiler writes; without that compiler it is a safe guess.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driver/compilation.h"

namespace aotc::driver {

struct StackNeed {
  int64_t bytes = 0;
  bool computed = false;  // false: the compiler is missing or cannot tell
};

// Compiles the emitted C as a project does, into a folder that goes away again: a second or two.
StackNeed stack_need(const Compiled& compiled);
int64_t model_stack_bytes(const Compiled& compiled);

// From call graphs in the form of gcc's -fcallgraph-info=su and the text of their sources (for what
// assembly pushes): the deepest path from `entry`. Nothing if it is in no graph. For tests as well.
struct CallGraphFile {
  std::string graph, source;
};
int64_t deepest_path(const std::vector<CallGraphFile>& files, const std::string& entry);

}  // namespace aotc::driver
