// SPDX-License-Identifier: Apache-2.0
// Products of random graphs whose weights may be computed, and convolutions over volumes. The one thing to
// know: where no tensor fits, a constant is the weights.
#pragma once

#include "graph_maker.h"

namespace aotc::tests {

// One such operator over tensors of the graph; false if it did not fit.
bool make_product(GraphMaker& graph, const std::string& activation);

}  // namespace aotc::tests
