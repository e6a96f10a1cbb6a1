// SPDX-License-Identifier: Apache-2.0
// Random chains of operators over images, with residuals, for plans that compute them row by row. The one thing to
// know: rows are mostly whole words, as the planner asks; kernels, strides, padding and dilation are anything.
#pragma once

#include "graph_maker.h"

namespace aotc::tests {

graph::Graph rows_graph(Random& random, DType main_type, const std::string& name);

}  // namespace aotc::tests
