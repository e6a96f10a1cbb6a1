// SPDX-License-Identifier: Apache-2.0
// Fuzz target for ONNX models.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "onnx_case.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bad = aotc::fuzz::check_onnx_case({data, data + size});
  if (bad.empty()) return 0;
  std::fprintf(stderr, "broken promise: %s\n", bad.c_str());
  std::abort();
}
