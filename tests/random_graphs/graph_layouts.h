// SPDX-License-Identifier: Apache-2.0
// Stretches of random graphs whose dimensions stand in another order between two transposes, as
// models of planes (NCHW) have them around operators of NHWC. The one thing to know: what is drawn
// is made of operators that other makers draw as well; here they stand so that move-transposes has
// something to decide.
#pragma once

#include "graph_maker.h"

namespace aotc::tests {

// One such stretch; false if nothing fitted.
bool make_planes(GraphMaker& graph);

}  // namespace aotc::tests
