// SPDX-License-Identifier: Apache-2.0
// Operators of random graphs that put elements in other places. The one thing to know: indices are in
// range, as constants or as what arg_max gives, so that no run fails.
#pragma once

#include "graph_maker.h"

namespace aotc::tests {

// One such operator over tensors of the graph; false if it did not fit.
bool make_mover(GraphMaker& graph);

}  // namespace aotc::tests
