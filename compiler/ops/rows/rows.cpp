// SPDX-License-Identifier: Apache-2.0
#include "ops/rows/rows.h"

namespace aotc::ops {

void add_operators_rows(OperatorSet& set) {
  add_attention(set);
  add_cumsum(set);
  add_l2_normalization(set);
  add_layer_normalization(set);
  add_log_softmax(set);
  add_topk(set);
  add_local_response_normalization(set);
}

}  // namespace aotc::ops
