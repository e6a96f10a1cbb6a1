// SPDX-License-Identifier: Apache-2.0
// Computes the maximal stack bytes of one run of a model: a bound from the call graph that the board's own compiler
// writes, or a safe guess if that compiler is missing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driver/compilation.h"

namespace aotc::driver {

struct StackNeed {
  int64_t bytes = 0;
  bool computed = false;  // false: the compiler is missing or writes no call graph
};

// Compiles the emitted C as a project does, in a temporary folder: one or two seconds.
StackNeed stack_need(const Compiled& compiled);
int64_t model_stack_bytes(const Compiled& compiled);

// Stack bytes of the deepest path from `entry` in call graphs of gcc's -fcallgraph-info=su, with the text of the
// sources, for registers that assembly pushes. 0 if `entry` is in no graph. For tests as well.
struct CallGraphFile {
  std::string graph, source;
};
int64_t deepest_path(const std::vector<CallGraphFile>& files, const std::string& entry);

}  // namespace aotc::driver
