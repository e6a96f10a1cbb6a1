// SPDX-License-Identifier: Apache-2.0
// Operators of random graphs on bits: of whole numbers, and of floats that are stored in other formats.
// The one thing to know: whole numbers stay as small as they were, and floats finite.
#pragma once

#include "graph_maker.h"

namespace aotc::tests {

// One such operator, or a pair of them, over tensors of the graph; false if it did not fit.
bool make_bits(GraphMaker& graph);

}  // namespace aotc::tests
