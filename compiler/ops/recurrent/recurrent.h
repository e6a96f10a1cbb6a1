// SPDX-License-Identifier: Apache-2.0
// What the operators of this folder share beside their arithmetic: how two directions are put together, and
// refusals.
#pragma once

#include <vector>

#include "ops/operator.h"

namespace aotc::ops {

std::vector<size_t> joined(std::vector<size_t> a, const std::vector<size_t>& b);

// As many operands, of which some may be absent, and results.
bool check_counts_of(const OpView& op, size_t operands, size_t results, Diagnostics& diags);
// An operand that is there has this shape.
bool check_shape_of(const OpView& op, size_t operand, const graph::Shape& wanted, Diagnostics& diags);
// The input of the way back, operand `second`, has the shape of operand 0.
bool check_second_input(const OpView& op, size_t second, Diagnostics& diags);
// Shapes of the results: the outputs, of which there is one if they are merged, and the states.
std::vector<graph::Shape> both_results(const OpView& op, const std::vector<int64_t>& outputs, bool merged,
                                       const std::vector<graph::Shape>& states);

void add_bidirectional_lstm(OperatorSet& set);
void add_rnns(OperatorSet& set);

}  // namespace aotc::ops
