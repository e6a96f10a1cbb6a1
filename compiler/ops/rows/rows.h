// SPDX-License-Identifier: Apache-2.0
// Operators that go through the elements of one axis, or of each row, in order: each file here adds one.
#pragma once

#include "ops/operator.h"

namespace aotc::ops {

void add_attention(OperatorSet& set);
void add_cumsum(OperatorSet& set);
void add_l2_normalization(OperatorSet& set);
void add_layer_normalization(OperatorSet& set);
void add_log_softmax(OperatorSet& set);
void add_topk(OperatorSet& set);
void add_local_response_normalization(OperatorSet& set);

}  // namespace aotc::ops
