// SPDX-License-Identifier: Apache-2.0
// Recurrent layers of random graphs, whose states are operands and results like all others.
#pragma once

#include "graph_maker.h"

namespace aotc::tests {

// One such operator over tensors of the graph; false if it did not fit.
bool make_recurrent(GraphMaker& graph);

}  // namespace aotc::tests
