// SPDX-License-Identifier: Apache-2.0
// Reads JSON descriptions of custom operators of a TFLite model (docs/custom-operators.md). A description accompanies C
// sources. It states C names, and types and shapes of results, which the model does not contain. The reader of the
// model checks that the C agrees with the description.
#pragma once

#include <string>
#include <vector>

#include "ops/external/given.h"
#include "support/diagnostics.h"

namespace aotc::driver {

// The files of `--operators`: C sources, and descriptions (.json). A description beside a source with the same name is
// added automatically.
struct OperatorFiles {
  std::vector<std::string> sources, descriptions;
};
// Reports [operator-description] if there are sources but no description, or descriptions but no source.
Result<OperatorFiles> operator_files(const std::vector<std::string>& given, Diagnostics& diags);

// Adds the operators of one description. Reports [operator-description] with line and column.
Status read_description(const std::string& path, ops::GivenOperators& out, Diagnostics& diags);

}  // namespace aotc::driver
