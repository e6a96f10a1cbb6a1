// SPDX-License-Identifier: Apache-2.0
// Moves transposes through operators that do the same in another order of dimensions, until they
// meet and vanish: a model of NCHW between operators of NHWC becomes one of NHWC. The one thing to
// know: outputs stay the same bit for bit, and never are more elements transposed than before.
// Tensors that the model does not have in their new order get a name that ends in kOtherOrder, the
// order, and ')'.
#pragma once

#include "passes/pass.h"

namespace aotc::passes {

inline constexpr std::string_view kOtherOrder = " (order ";

Status move_transposes(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
