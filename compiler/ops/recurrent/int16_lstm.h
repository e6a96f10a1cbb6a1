// SPDX-License-Identifier: Apache-2.0
// unidirectional_sequence_lstm of int16 activations and int8 weights, as TensorFlow Lite Micro has it; LiteRT has none.
#pragma once

#include "ops/operator.h"

namespace aotc::ops {

// What is special about its operands, of which types and shapes are in order. Reports.
bool check_int16_lstm(const OpView& op, Diagnostics& diags);
// What its sums and products can reach, once scales are known to be in order. Reports.
bool check_int16_lstm_sums(const OpView& op, Diagnostics& diags);
Lowered lower_int16_lstm(const OpView& op);

}  // namespace aotc::ops
