// SPDX-License-Identifier: Apache-2.0
// Decision trees in random graphs. The one thing to know: their thresholds lie where values do.
#pragma once

#include "graph_maker.h"

namespace aotc::tests {

// A tree_ensemble over a matrix of floats of the graph; false if there is none.
bool make_trees(GraphMaker& graph);

}  // namespace aotc::tests
