// SPDX-License-Identifier: Apache-2.0
// The JSON beside C sources that says which custom operators of a TFLite model they are
// (docs/custom-operators.md). The one thing to know: it says what the model cannot: C names, types,
// shapes of results; whether the C agrees is checked when the model is read.
#pragma once

#include <string>
#include <vector>

#include "ops/external/given.h"
#include "support/diagnostics.h"

namespace aotc::driver {

// Of `--operators`: those that are C, and the descriptions, given themselves (.json) or beside a
// source under its name.
struct OperatorFiles {
  std::vector<std::string> sources, descriptions;
};
// Reports [operator-description] if there is a source and no description, or the other way round.
Result<OperatorFiles> operator_files(const std::vector<std::string>& given, Diagnostics& diags);

// Adds the operators of one description. Reports [operator-description] with line and column.
Status read_description(const std::string& path, ops::GivenOperators& out, Diagnostics& diags);

}  // namespace aotc::driver
