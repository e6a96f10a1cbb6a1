// SPDX-License-Identifier: Apache-2.0
// Proofs by exhaustion for elementwise operators on 8- or 16-bit values: two chains of such operators are equal if they
// give the same result for every value. The operators' reference implementation computes the results, so a proof needs
// no knowledge of the operators.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ops/operator.h"

namespace aotc::passes {

// Returns every value of an 8- or 16-bit integer type in increasing order, as bytes; empty for other types.
std::vector<uint8_t> all_values(DType type);

// Elements of tensors by tensor id, all of the same number.
using Rows = std::unordered_map<int32_t, std::vector<uint8_t>>;

// True if each element of the result depends on the elements at its place of the operands that are no constants.
bool works_by_element(const graph::Graph& graph, const graph::Op& op);

// Evaluates an operator whose result depends, element by element, on the operands that have rows. Other operands are
// constants. Returns the elements of the result; nullopt if the operator cannot work on rows.
std::optional<std::vector<uint8_t>> evaluate_rows(const graph::Graph& graph, const graph::Op& op, const Rows& rows);

// Evaluates a chain of elementwise operators for every value of the first operand's type. Each operator has one
// operand, the result of the previous one. Returns one element of the last result's type for each value. nullopt if an
// operator is of another kind, or a tensor is quantised per channel.
std::optional<std::vector<uint8_t>> evaluate_all_values(const graph::Graph& graph,
                                                        const std::vector<const graph::Op*>& chain);

// True if the chain returns every value of its operand unchanged, in the same type.
bool is_identity_on_all_values(const graph::Graph& graph, const std::vector<const graph::Op*>& chain);

}  // namespace aotc::passes
