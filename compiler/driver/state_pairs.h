// SPDX-License-Identifier: Apache-2.0
// --state: pairs of an output and an input of a model that together are a state. The one thing to know:
// an initial value that is given as a file is read once and kept with the options, so that a project can
// be compiled again without the file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "support/diagnostics.h"

namespace aotc::driver {

// Bytes of initial values that came from files, by the text of the option.
using InitialValues = std::map<std::string, std::vector<uint8_t>>;

// Makes states of the pairs "OUTPUT=INPUT" or "OUTPUT=INPUT@FILE.npy". What `known` has of a file is not
// read again; what is read is added. Reports [state-invalid], [state-name], [state-type], and what
// reading the file does.
Status pair_states(graph::Graph& graph, const std::vector<std::string>& texts, InitialValues& known,
                   Diagnostics& diags);

}  // namespace aotc::driver
