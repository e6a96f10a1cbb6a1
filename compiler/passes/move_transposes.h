// SPDX-License-Identifier: Apache-2.0
// Pass that moves transposes through operators that can work in any order of dimensions, until pairs of transposes
// cancel. For example, the parts of a model in NCHW order between NHWC operators become NHWC. Outputs stay
// bit-identical, and the number of transposed elements never increases. A tensor that gets an order in which the model
// does not have it gets a name that ends in kOtherOrder, the order, and ')'.
#pragma once

#include "passes/pass.h"

namespace aotc::passes {

inline constexpr std::string_view kOtherOrder = " (order ";

Status move_transposes(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
