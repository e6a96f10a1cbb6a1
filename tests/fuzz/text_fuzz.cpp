// SPDX-License-Identifier: Apache-2.0
// Fuzz target for the text forms; see text_case.h.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "text_case.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bad = aotc::fuzz::check_text_case({reinterpret_cast<const char*>(data), size});
  if (bad.empty()) return 0;
  std::fprintf(stderr, "broken promise: %s\n", bad.c_str());
  std::abort();
}
