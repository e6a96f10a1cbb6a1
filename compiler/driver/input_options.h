// SPDX-License-Identifier: Apache-2.0
// Parses the options that name inputs of a model: --shape, --dim, --value and --state. For all but --state, only the
// syntax is checked here; the reader of the model checks the names.
#pragma once

#include <cstdint>
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

// --state has pairs of an output and an input of a model that form a state. An initial value from a file is read once
// and stored with the options, so a project can be compiled again without the file.

// Bytes of initial values from files, by the text of the option.
using InitialValues = std::map<std::string, std::vector<uint8_t>>;

// Turns the pairs "OUTPUT=INPUT" or "OUTPUT=INPUT@FILE.npy" into states. Files whose values are in `known` are not read
// again; new values are added. Reports [state-invalid], [state-name], [state-type], and the errors of reading the file.
Status pair_states(graph::Graph& graph, const std::vector<std::string>& texts, InitialValues& known,
                   Diagnostics& diags);

}  // namespace aotc::driver
