// SPDX-License-Identifier: Apache-2.0
// --shape: shapes that the user gives inputs. The one thing to know: only the text is checked here;
// which inputs there are is for the reader of the model to say.
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

}  // namespace aotc::driver
