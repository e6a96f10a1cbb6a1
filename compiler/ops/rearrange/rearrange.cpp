// SPDX-License-Identifier: Apache-2.0
#include "ops/rearrange/rearrange.h"

namespace aotc::ops {

void add_operators_rearrange(OperatorSet& set) {
  add_block_operators(set);
  add_border_operators(set);
  add_diagonal_operators(set);
}

}  // namespace aotc::ops
