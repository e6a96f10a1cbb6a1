// SPDX-License-Identifier: Apache-2.0
// depthwise_conv_2d: two-dimensional convolution of every channel on its own, any stride, dilation
// and padding. Operands: input [N,H,W,C], weights [1,KH,KW,C*M], optional bias [C*M]; result
// channel c*M + m comes from input channel c. The multiplier M follows from the shapes.
#pragma once

#include "ops/common/requantize.h"
#include "ops/common/wide_requantize.h"
#include "ops/common/window.h"

namespace aotc::ops {

struct DepthwiseConv2DAttrs : graph::Attributes<DepthwiseConv2DAttrs>, WindowFields {
  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    visit_window(self, field);
  }
};

// int8 only; `ranges` per result channel as the lowering needs it.
Requantization depthwise_scaling(const OpView& op, std::vector<AccRange> ranges);

// int16 only.
WideScaling depthwise_wide_scaling(const OpView& op);

Lowered lower_depthwise_conv_2d(const OpView& op, const TargetInfo& target);

// Float activations and int8 weights (hybrid.cpp; arithmetic in ops/common/hybrid.h): a batch is one
// row, always quantised with a zero point.
void evaluate_depthwise_conv_2d_hybrid(const OpView& op, const EvalData& data);
Lowered lower_depthwise_conv_2d_hybrid(const OpView& op);

}  // namespace aotc::ops
