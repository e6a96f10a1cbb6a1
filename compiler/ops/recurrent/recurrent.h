// SPDX-License-Identifier: Apache-2.0
// What the operators of this folder share beside their arithmetic: how two directions are put together, and
// refusals.
#pragma once

#include <vector>

#include "ops/signature.h"

namespace aotc::ops {

std::vector<size_t> joined(std::vector<size_t> a, const std::vector<size_t>& b);

// An operand that is there has this shape.
bool check_shape_of(const OpView& op, size_t operand, const graph::Shape& wanted, Diagnostics& diags);
// The input of the way back, operand `second`, has the shape of operand 0.
bool check_second_input(const OpView& op, size_t second, Diagnostics& diags);
// The results: the outputs, of which there is one if they are merged, and the states; with their shapes.
std::vector<ResultSpec> both_result_specs(std::initializer_list<std::string_view> states);
std::vector<graph::Shape> both_results(const OpView& op, const std::vector<int64_t>& outputs, bool merged,
                                       const std::vector<graph::Shape>& states);

void add_bidirectional_lstm(OperatorSet& set);
void add_rnns(OperatorSet& set);

}  // namespace aotc::ops
