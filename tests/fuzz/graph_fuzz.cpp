// SPDX-License-Identifier: Apache-2.0
// Fuzz target for TVM graphs with parameters.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "graph_case.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bad = aotc::fuzz::check_graph_case({data, data + size});
  if (bad.empty()) return 0;
  std::fprintf(stderr, "broken promise: %s\n", bad.c_str());
  std::abort();
}
