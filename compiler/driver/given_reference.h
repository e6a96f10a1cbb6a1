// SPDX-License-Identifier: Apache-2.0
// Runs operators that a user gives as C, on this machine: the reference of such operators. The one
// thing to know: they run in a process of their own, so whatever they do, this one goes on.
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
  // `files`: C sources and headers by name; `include_dirs` as given to --operator-include.
  GivenReference(std::map<std::string, std::string> files, std::vector<std::string> include_dirs)
      : files_(std::move(files)), include_dirs_(std::move(include_dirs)) {}

  // Compiles the functions, which are called with so many pointers each. Reports [tool-missing] and
  // [build-failed].
  Status build(const std::map<std::string, size_t>& parameters, Diagnostics& diags);

  void run(const std::string& symbol, const ops::EvalData& data) override;
  // Why a function did not compute its results, the first time; empty if all did.
  const std::string& problem() const { return problem_; }

 private:
  bool call(const std::string& symbol, const ops::EvalData& data);

  std::map<std::string, std::string> files_;
  std::vector<std::string> include_dirs_;
  std::unique_ptr<TemporaryDirectory> directory_;
  std::map<std::string, size_t> numbers_;  // of functions
  std::string problem_;
};

// What operators given in C should compute is known to nobody but them: the reference runs them,
// built for this machine. Null for a graph without such operators. Reports [verify-external] of
// those that call TVM's runtime or that nobody gave, and what GivenReference::build does.
Result<std::shared_ptr<GivenReference>> build_given(const graph::Graph& graph, Diagnostics& diags);

}  // namespace aotc::driver
