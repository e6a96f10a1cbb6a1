// SPDX-License-Identifier: Apache-2.0
// GivenReference: runs operators given in C on this machine. Their results serve as the reference for verify. They run
// in a separate process, so a crash does not affect aotc.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "driver/temporary.h"
#include "ops/external/external.h"
#include "support/diagnostics.h"
#include "support/result.h"

namespace aotc::driver {

class GivenReference final : public ops::ExternalReference {
 public:
  // `files`: C sources and headers by name; `include_dirs`: the values of --operator-include.
  GivenReference(std::map<std::string, std::string> files, std::vector<std::string> include_dirs)
      : files_(std::move(files)), include_dirs_(std::move(include_dirs)) {}

  // Compiles the functions. `parameters`: number of pointer parameters by function name. Reports [tool-missing] and
  // [build-failed].
  Status build(const std::map<std::string, size_t>& parameters, Diagnostics& diags);

  void run(const std::string& symbol, const ops::EvalData& data) override;
  // The reason why a function call failed, for the first failure; empty if none failed.
  const std::string& problem() const { return problem_; }

 private:
  bool call(const std::string& symbol, const ops::EvalData& data);

  std::map<std::string, std::string> files_;
  std::vector<std::string> include_dirs_;
  std::unique_ptr<TemporaryDirectory> directory_;
  std::map<std::string, size_t> numbers_;  // index by function name
  std::string problem_;
};

// Builds the operators given in C for this machine; they have no other reference. Null for a graph without such
// operators. Reports [verify-external] for operators that call TVM's runtime or have no source, and the errors of
// GivenReference::build.
Result<std::shared_ptr<GivenReference>> build_given(const graph::Graph& graph, Diagnostics& diags);

}  // namespace aotc::driver
