// SPDX-License-Identifier: Apache-2.0
// What every lowering of conv_2d begins with: its shape, and for int8 its weights and
// requantisation.
#pragma once

#include "ops/common/conv.h"
#include "ops/common/wide_requantize.h"
#include "ops/conv_2d/conv_2d.h"

namespace aotc::ops {

struct ConvShape {
  explicit ConvShape(const OpView& op);

  Window window;
  int64_t in_channels, out_channels;
  int64_t group_in;  // input channels that one output channel sees
  int64_t k;         // elements of a window
  bool pointwise;    // output pixel p is a sum over input pixel p

  bool grouped() const { return group_in != in_channels; }
  int64_t pixels() const { return window.batch * window.y.out * window.x.out; }
};

// int8 operands only; `ranges` per channel as the lowering needs it.
Requantization conv_requantization(const OpView& op, std::vector<AccRange> ranges);

// int8 only.
struct ConvScaling {
  // The weights are those of the operand, less their zero point.
  ConvScaling(const OpView& op, const ConvShape& shape);

  FoldedBias folded;
  Requantization requantization;

 private:
  ConvScaling(const OpView& op, const ConvShape& shape, const std::vector<int16_t>& weights);
};

// int16 only.
WideScaling conv_wide_scaling(const OpView& op, const ConvShape& shape);

}  // namespace aotc::ops
