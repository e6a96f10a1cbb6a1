// SPDX-License-Identifier: Apache-2.0
// tree_ensemble: sums of what the leaves of decision trees hold. The one thing to know: nodes lie
// depth first, so a walk only goes forward, and ends.
//
// Operands, all but the first constant:
//   0  f32 [rows, features]
//   1  i32 [columns, 2]: a feature, and whether NaN goes to the next node (1) or skips (0)
//   2  f32 [thresholds]
//   3  i32 [nodes, 3]: column, skip, index. Where column <= thresholds[index] the walk goes on at
//   the
//      next node, else `skip` nodes further. skip = 0: a leaf, its values are row `index` of the
//      last operand
//   4  i32 [trees, 2]: the first node, and the first target that the leaf's values are added to
//   5  f32 [leaves, values]
#pragma once

#include "graph/attributes.h"

namespace aotc::ops {

struct TreeEnsembleAttrs : graph::Attributes<TreeEnsembleAttrs> {
  int32_t targets = 1;
  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("targets", self.targets);
  }
};

}  // namespace aotc::ops
