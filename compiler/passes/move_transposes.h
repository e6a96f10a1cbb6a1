// SPDX-License-Identifier: Apache-2.0
// Pass that moves transposes through operators that work in any order of dimensions, until pairs cancel: an NCHW model
// between NHWC operators becomes an NHWC model. Outputs stay bit-identical, and never more elements are transposed than
// before. Tensors that the model does not have in their new order get a name that ends in kOtherOrder, the order, and
// ')'.
#pragma once

#include "passes/pass.h"

namespace aotc::passes {

inline constexpr std::string_view kOtherOrder = " (order ";

Status move_transposes(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
