// SPDX-License-Identifier: Apache-2.0
// Proof by trying everything: an elementwise operator over 8- or 16-bit values is a table, and two
// chains of such operators are the same if their tables are. The one thing to know: the values come
// from the operators' own reference evaluation, so the proof holds for whatever they compute.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ops/operator.h"

namespace aotc::passes {

// Every value of an 8- or 16-bit integer type in increasing order, as bytes; empty for other types.
std::vector<uint8_t> all_values(DType type);

// What a chain of elementwise operators with one operand each, the second reading the first's
// result and so on, makes of every value of the first operand's type: one element of the last
// result's type per value. nullopt if some op is not of this kind, or a tensor is quantised per
// channel.
std::optional<std::vector<uint8_t>> evaluate_all_values(const graph::Graph& graph,
                                                        const std::vector<const graph::Op*>& chain);

// Does the chain give back every value of its operand, in the same type?
bool is_identity_on_all_values(const graph::Graph& graph,
                               const std::vector<const graph::Op*>& chain);

}  // namespace aotc::passes
