// SPDX-License-Identifier: Apache-2.0
// Fuzz target for .tflite models. Without libFuzzer it runs the files and directories given on its
// command line once each, see run_files.cpp.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "model_case.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace aotc::fuzz;
  CaseResult result = run_tflite_case({data, data + size});
  if (result.verdict == Verdict::kBroken) {
    std::fprintf(stderr, "broken promise: %s\n", result.text.c_str());
    std::abort();
  }
  return 0;
}
