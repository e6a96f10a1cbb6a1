// SPDX-License-Identifier: Apache-2.0
// One case of fuzzing: bytes of a model in, a verdict out. The one thing to know: a verdict of
// kRefused is as good as kAccepted; only a broken promise (see model_case.cpp) is a failure, next
// to what the sanitizers and limits catch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace aotc::fuzz {

enum class Verdict { kAccepted, kRefused, kBroken };

struct CaseResult {
  Verdict verdict = Verdict::kRefused;
  bool ran = false;  // the program was run and compared with the reference evaluation
  std::string text;  // the messages, or which promise was broken
};

struct CaseOptions {
  // Run the program of a small accepted model in the TIR interpreter, too.
  bool run = true;
  uint64_t seed = 1;  // of its inputs
};

// Reads the bytes as a .tflite model and compiles it, from the file to the text of the C files.
CaseResult run_tflite_case(std::vector<uint8_t> bytes, const CaseOptions& options = {});

}  // namespace aotc::fuzz
