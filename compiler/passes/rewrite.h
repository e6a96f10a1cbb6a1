// SPDX-License-Identifier: Apache-2.0
// What passes share: questions about an operator in its graph, and edits that keep the graph valid.
// The one thing to know: edits leave ids as they are; removed operators' tensors stay until the
// compaction pass, operators that nobody reads any more until the pass ends (pipeline.h).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ops/operator.h"

namespace aotc::passes {

// Does the operator pass its own shape inference and checks? Nothing is reported.
bool is_valid(const graph::Graph& graph, const graph::Op& op);

// The only operand of an operator that has one present operand, as operand 0, and one result.
bool is_unary(const graph::Op& op);

// The op that defines `id` if that has this one result, `user` is the only reader, both run on the
// same device, and no output port or state keeps it; else -1.
int sole_producer(const graph::Graph& graph, const graph::UseDef& chains, graph::TensorId id,
                  int user);

// An attribute's text; nullopt if the operator has no such attribute.
std::optional<std::string> attribute(const graph::Op& op, std::string_view name);
// A copy of the attributes with one changed; null if there is none of that name or the text does
// not fit.
std::shared_ptr<graph::AttributesBase> with_attribute(const graph::AttributesBase& attributes,
                                                      std::string_view name,
                                                      const std::string& text);

// Makes every reader of `from`, every output port and every state take `to`. False, with nothing changed, when
// a port shows `from` but must not show `to`: an input, a constant, or a tensor of another port
// already has its own storage at the caller; or when the two are on different devices.
bool replace_uses(graph::Graph& graph, graph::TensorId from, graph::TensorId to);

}  // namespace aotc::passes
