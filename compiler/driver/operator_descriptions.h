// SPDX-License-Identifier: Apache-2.0
// Reads the JSON beside C sources that describes custom operators of a TFLite model (docs/custom-operators.md): C
// names, types and shapes of results, which the model does not contain. Whether the C agrees is checked when the model
// is read.
#pragma once

#include <string>
#include <vector>

#include "ops/external/given.h"
#include "support/diagnostics.h"

namespace aotc::driver {

// The values of `--operators`: C files, and descriptions, named themselves (.json) or beside a source with the same
// name.
struct OperatorFiles {
  std::vector<std::string> sources, descriptions;
};
// Reports [operator-description] if there is a source without a description, or the other way round.
Result<OperatorFiles> operator_files(const std::vector<std::string>& given, Diagnostics& diags);

// Adds the operators of one description. Reports [operator-description] with line and column.
Status read_description(const std::string& path, ops::GivenOperators& out, Diagnostics& diags);

}  // namespace aotc::driver
