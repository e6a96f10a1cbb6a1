// SPDX-License-Identifier: Apache-2.0
// Emits many models as C programs that compare their outputs with given bytes, builds them with a
// compiler of this machine and runs them. Models take their memory in turn from the caller's arena,
// an arena of their own, and workspace; the latter also with every allocation and every release
// failing once. Some also run in slices, in turn with whole runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/program.h"

namespace aotc::tests {

class Batches {
 public:
  using Values = std::vector<std::vector<uint8_t>>;  // bytes of every input or output
  // One after the other, states kept; before run `reset` they begin anew.
  struct Runs {
    std::vector<Values> inputs, expected;
    size_t reset = SIZE_MAX;
  };

  Batches(std::string folder, std::vector<std::string> compiler, size_t batch_size);
  // Runs in slices: parts of calls of at most so many instructions, or whole calls.
  struct Slices {
    ops::TargetInfo target;
    int64_t limit = 0;  // 0: whole calls
  };
  // `name` is what failures are reported by. With `slices` every other sample is run in slices.
  void add(const std::string& name, const plan::Program& program, const Runs& runs,
           const std::optional<Slices>& slices = std::nullopt);
  // Builds and runs everything; returns the lines of failures, empty if all is well. `ran` counts
  // the models that passed.
  std::vector<std::string> run(int* ran);

 private:
  void flush();
  std::string folder_;
  std::vector<std::string> compiler_;
  size_t batch_size_, in_batch_ = 0, models_ = 0;
  std::string source_, calls_;
  std::vector<std::string> programs_;
};

}  // namespace aotc::tests
