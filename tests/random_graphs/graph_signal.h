// SPDX-License-Identifier: Apache-2.0
// Signal operators for random graphs, on values of whatever the graph has.
#pragma once

#include "graph_maker.h"

namespace aotc::tests {

// Adds one of them, or a filter bank with its square roots; false if nothing fits.
bool make_signal(GraphMaker& graph);

}  // namespace aotc::tests
