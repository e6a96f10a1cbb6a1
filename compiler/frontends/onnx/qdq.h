// SPDX-License-Identifier: Apache-2.0
// Replaces DequantizeLinear, float operator, QuantizeLinear groups of quantised models by one quantised operator each,
// as onnxruntime's default session does and rounds. The nodes of the file are rewritten before any is imported; a group
// that onnxruntime would not fuse stays in float.
#pragma once

#include <string_view>
#include <vector>

#include "frontends/onnx/messages.h"

namespace aotc::frontends::onnx {

// The domain of the nodes that replace groups, whatever the model imports.
inline constexpr std::string_view kGroups = "aotc.groups";

// The graph's nodes with each group replaced in place; nodes without a type are removed. `literal`: replace a group
// only if onnxruntime's operator rounds as the group specifies. Sums of products do, up to the rounding of float sums;
// Add, Mul, Softmax and pools do not. `version`: of the operator set.
std::vector<Node> fold_groups(const Graph& graph, int64_t version, bool literal = false);

}  // namespace aotc::frontends::onnx
