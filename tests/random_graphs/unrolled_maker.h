// SPDX-License-Identifier: Apache-2.0
// Random unrolled networks: a body of operators again and again, each time on what the last turn
// left. The one thing to know: turns share weights, mostly; scales, other constants and the order
// of operators differ.
#pragma once

#include "graph_maker.h"

namespace aotc::tests {

graph::Graph unrolled_graph(Random& random, DType main_type, const std::string& name);

}  // namespace aotc::tests
