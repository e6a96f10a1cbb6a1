// SPDX-License-Identifier: Apache-2.0
// Proofs by exhaustion for elementwise operators on 8- or 16-bit values: two chains of such operators are equal if they
// give the same result for every value. The operators' reference implementation computes the results, so a proof needs
// no knowledge of the operators.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ops/operator.h"

namespace aotc::passes {

// Returns every value of an 8- or 16-bit integer type in increasing order, as bytes; empty for other types.
std::vector<uint8_t> all_values(DType type);

// Evaluates a chain of elementwise operators for every value of the first operand's type. Each operator has one
// operand, the result of the previous one. Returns one element of the last result's type for each value. nullopt if an
// operator is of another kind, or a tensor is quantised per channel.
std::optional<std::vector<uint8_t>> evaluate_all_values(const graph::Graph& graph,
                                                        const std::vector<const graph::Op*>& chain);

// True if the chain returns every value of its operand unchanged, in the same type.
bool is_identity_on_all_values(const graph::Graph& graph, const std::vector<const graph::Op*>& chain);

}  // namespace aotc::passes
