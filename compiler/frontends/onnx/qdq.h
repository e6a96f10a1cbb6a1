// SPDX-License-Identifier: Apache-2.0
// DequantizeLinear, a float operator, QuantizeLinear: the form in which onnxruntime's tools write
// quantised models. Its default session makes one quantised operator of such a group, which is how
// it rounds. The one thing to know: this is done on the file's nodes, before any is read, in the
// same way; a group that is not one of those stays what it says, in float.
#pragma once

#include <string_view>
#include <vector>

#include "frontends/onnx/messages.h"

namespace aotc::frontends::onnx {

// The domain of what replaces groups, whatever the model imports.
inline constexpr std::string_view kGroups = "aotc.groups";

// The graph's nodes with groups replaced, each in the place where it was; nodes without a type are
// gone. `literal`: only where onnxruntime's operator rounds as the group says. Sums of products do,
// up to the rounding of float sums; Add, Mul, Softmax and pools do not. `version`: of the operator set.
std::vector<Node> fold_groups(const Graph& graph, int64_t version, bool literal = false);

}  // namespace aotc::frontends::onnx
