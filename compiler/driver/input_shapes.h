// SPDX-License-Identifier: Apache-2.0
// --shape, --dim and --value: what the user gives of inputs. The one thing to know: only the texts are
// checked here; which inputs there are is for the reader of the model to say.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "support/diagnostics.h"

namespace aotc::driver {

// Reads "NAME=1,98,40" texts; reports [shape-invalid].
Result<std::map<std::string, graph::Shape>> parse_input_shapes(
    const std::vector<std::string>& texts, Diagnostics& diags);

// Reads "NAME=1" texts; reports [shape-invalid].
Result<std::map<std::string, int64_t>> parse_dimensions(const std::vector<std::string>& texts,
                                                        Diagnostics& diags);

// Takes "NAME=VALUE" texts apart; reports [value-invalid].
Result<std::map<std::string, std::string>> parse_input_values(const std::vector<std::string>& texts,
                                                              Diagnostics& diags);

}  // namespace aotc::driver
