// SPDX-License-Identifier: Apache-2.0
// Operators of random graphs that keep a state. The one thing to know: a state is an operand and a result
// like all others; whether it is carried from run to run is the generator's affair.
#pragma once

#include "graph_maker.h"

namespace aotc::tests {

// One such operator over tensors of the graph; false if it did not fit.
bool make_stateful(GraphMaker& graph);

}  // namespace aotc::tests
