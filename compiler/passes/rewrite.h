// SPDX-License-Identifier: Apache-2.0
// Helpers that passes share: queries about an operator in its graph, and edits that keep the graph valid. Edits do not
// change ids; tensors of removed operators stay until the compaction pass, unread operators until the pass ends
// (pipeline.h).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ops/operator.h"

namespace aotc::passes {

// True if the operator passes its own shape inference and checks. Nothing is reported.
bool is_valid(const graph::Graph& graph, const graph::Op& op);

// True if the operator has one result and one present operand, operand 0.
bool is_unary(const graph::Op& op);

// The op that defines `id` if it has this one result, `user` is the only reader, both run on the same device, and no
// output port or state refers to it; else -1.
int sole_producer(const graph::Graph& graph, const graph::UseDef& chains, graph::TensorId id, int user);

// An attribute's text; nullopt if the operator has no such attribute.
std::optional<std::string> attribute(const graph::Op& op, std::string_view name);
// A copy of the attributes with one changed; null if no attribute has that name or the text is invalid for it.
std::shared_ptr<graph::AttributesBase> with_attribute(const graph::AttributesBase& attributes, std::string_view name,
                                                      const std::string& text);

// Replaces `from` by `to` at every reader, output port and state. False, with nothing changed, if a port refers to
// `from` but must not refer to `to` (an input, a constant, or a tensor of another port, which already has its own
// storage at the caller), or if the two are on different devices.
bool replace_uses(graph::Graph& graph, graph::TensorId from, graph::TensorId to);

}  // namespace aotc::passes
