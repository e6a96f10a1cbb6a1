// SPDX-License-Identifier: Apache-2.0
// Parses --shape, --dim and --value. Only the syntax is checked here; the reader of the model checks the names.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "support/diagnostics.h"

namespace aotc::driver {

// Reads "NAME=1,98,40" texts; reports [shape-invalid].
Result<std::map<std::string, graph::Shape>> parse_input_shapes(const std::vector<std::string>& texts,
                                                               Diagnostics& diags);

// Reads "NAME=1" texts; reports [shape-invalid].
Result<std::map<std::string, int64_t>> parse_dimensions(const std::vector<std::string>& texts, Diagnostics& diags);

// Splits "NAME=VALUE" texts; reports [value-invalid].
Result<std::map<std::string, std::string>> parse_input_values(const std::vector<std::string>& texts,
                                                              Diagnostics& diags);

}  // namespace aotc::driver
