// SPDX-License-Identifier: Apache-2.0
// Proofs by exhaustion: an elementwise operator over 8- or 16-bit values is a table, and two chains of such operators
// are equal if their tables are. The values come from the operators' own reference evaluation, so a proof holds for
// whatever they compute.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ops/operator.h"

namespace aotc::passes {

// Every value of an 8- or 16-bit integer type in increasing order, as bytes; empty for other types.
std::vector<uint8_t> all_values(DType type);

// Evaluates a chain of elementwise operators with one operand each (each reads the result of the previous one) for
// every value of the first operand's type: one element of the last result's type per value. nullopt if an operator is
// of another kind, or a tensor is quantised per channel.
std::optional<std::vector<uint8_t>> evaluate_all_values(const graph::Graph& graph,
                                                        const std::vector<const graph::Op*>& chain);

// True if the chain returns every value of its operand unchanged, in the same type.
bool is_identity_on_all_values(const graph::Graph& graph, const std::vector<const graph::Op*>& chain);

}  // namespace aotc::passes
