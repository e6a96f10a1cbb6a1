// SPDX-License-Identifier: Apache-2.0
// Fuses groups of DequantizeLinear, a float operator and QuantizeLinear in quantised ONNX models into one quantised
// operator each. The fused operator rounds like the one that onnxruntime uses by default. The nodes of the file are
// rewritten before any of them is imported. A group that onnxruntime does not fuse stays in float.
#pragma once

#include <string_view>
#include <vector>

#include "frontends/onnx/messages.h"

namespace aotc::frontends::onnx {

// The ONNX domain of the nodes that replace groups. Importers accept it even if the model does not import it.
inline constexpr std::string_view kGroups = "aotc.groups";

// Returns the graph's nodes with each group replaced; a node with an empty type was removed. `literal`: replaces a
// group only if onnxruntime's operator rounds as the group specifies. Convolutions and matrix products do, except that
// float sums are rounded; Add, Mul, Softmax and pools do not. `version`: version of the operator set.
std::vector<Node> fold_groups(const Graph& graph, int64_t version, bool literal = false);

}  // namespace aotc::frontends::onnx
