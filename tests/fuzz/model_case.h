// One case of fuzzing a model reader: bytes in, a verdict out. The one thing to know: a verdict of
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
  std::string text;  // the messages, or which promise was broken
};

// Reads the bytes as a .tflite model and takes it as far as the compiler goes.
CaseResult run_tflite_case(std::vector<uint8_t> bytes);

}  // namespace aotc::fuzz
