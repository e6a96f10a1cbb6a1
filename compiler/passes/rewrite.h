// SPDX-License-Identifier: Apache-2.0
// Helpers that passes share: queries about an operator in its graph, and edits that keep the graph valid. Edits do not
// change ids. Tensors that became unused stay until the pass compact-tensors, and operators that became unused until
// the current pass ends (pipeline.h).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ops/operator.h"

namespace aotc::passes {

// True if the operator's shape inference and checks succeed. Reports nothing.
bool is_valid(const graph::Graph& graph, const graph::Op& op);

// True if the operator has one result and one present operand, operand 0.
bool is_unary(const graph::Op& op);

// Returns the op that defines `id` if `id` is its only result, op `user` is the only reader of `id`, both ops run on
// the same device, and `id` is neither an output nor the next value of a state. Else returns -1.
int sole_producer(const graph::Graph& graph, const graph::UseDef& chains, graph::TensorId id, int user);

// As sole_producer of `id`, but looks through views: returns the op before all views, each of which is the only reader
// of its operand. Sets `views` to them, the nearest to `id` first.
int producer_before_views(const graph::Graph& graph, const graph::UseDef& chains, graph::TensorId id, int user,
                          std::vector<int>& views);
// Adds a tensor like `id` with another type, which op `producer` is to define and op `user` is to read.
graph::TensorId add_tensor_like(graph::Graph& graph, graph::UseDef& chains, graph::TensorId id, graph::TensorType type,
                                int producer, int user);

// The value of an attribute as text; nullopt if the operator has no such attribute.
std::optional<std::string> attribute(const graph::Op& op, std::string_view name);
// Returns a copy of the attributes in which attribute `name` has the value `text`; null if there is no such attribute
// or the text is invalid for it.
std::shared_ptr<graph::AttributesBase> with_attribute(const graph::AttributesBase& attributes, std::string_view name,
                                                      const std::string& text);

// Replaces `from` by `to` at every reader, output port and state. Changes nothing and returns false if the tensors are
// on different devices, or if an output port refers to `from` but must not refer to `to`. A port must not refer to an
// input, a constant or another port's tensor, because the caller provides separate storage for each port.
bool replace_uses(graph::Graph& graph, graph::TensorId from, graph::TensorId to);

}  // namespace aotc::passes
