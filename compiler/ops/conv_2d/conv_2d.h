// SPDX-License-Identifier: Apache-2.0
// conv_2d: two-dimensional convolution over NHWC images, any stride, dilation, padding and groups.
// Operands: input [N,H,W,C], weights [OC,KH,KW,C/groups], optional bias [OC]. The number of groups
// follows from the shapes.
#pragma once

#include "ops/common/window.h"

namespace aotc::ops {

struct Conv2DAttrs : graph::Attributes<Conv2DAttrs>, WindowFields {
  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    visit_window(self, field);
  }
};

// The result's shape, and a check that the channels of input and weights fit, whatever the weights are. Both expect
// operands whose counts and ranks are in order.
Result<std::vector<graph::Shape>> infer_conv_2d(const OpView& op, Diagnostics& diags);
bool check_conv_2d_channels(const OpView& op, Diagnostics& diags);

// The lowering of int8 and float32 (lower.cpp).
Lowered lower_conv_2d(const OpView& op, const TargetInfo& target);

// Float activations and int8 weights (hybrid.cpp; arithmetic in ops/common/hybrid.h): a batch is one
// row, quantised with a zero point or without.
bool conv_rows_are_asymmetric(const OpView& op);
Lowered lower_conv_2d_hybrid(const OpView& op, const TargetInfo& target);

// int8 for cores without vectors (lower_triple.cpp), nothing where the general way is as fast.
std::optional<Lowered> lower_conv_2d_triple(const OpView& op, const TargetInfo& target);

// The operator conv_2d_computed, whose weights are no constant (computed.cpp).
void add_conv_2d_computed(OperatorSet& set);

}  // namespace aotc::ops
