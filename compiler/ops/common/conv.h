// What conv_2d and depthwise_conv_2d share: attributes, import, checks and accumulator bounds.
#pragma once

#include "ops/common/requantize.h"
#include "ops/common/window.h"

namespace aotc::ops {

// Checks common to convolution-like operators with operands (input, weights, optional bias):
// types (int8 with int8 weights and int32 bias, or float32), quantisation, bias length, accumulator
// range. `channel_axis` is the weights' axis of output channels.
bool verify_convolution(const OpView& op, int64_t channels, int channel_axis, Diagnostics& diags);

// Bias of each output channel with the input's zero point folded in, and the largest magnitude an
// accumulator can reach on the way: |bias'| + 128 * sum |w|.
struct FoldedBias {
  std::vector<int32_t> bias;
  int64_t largest = 0;
};
// `weights_of(c)` gives the weights that output channel c sums over.
FoldedBias fold_bias(const OpView& op, int64_t channels,
                     const std::function<std::vector<int8_t>(int64_t c)>& weights_of);

// int32 bias of channel c, 0 without one.
int32_t bias_at(const OpView& op, int64_t c);
float float_bias_at(const OpView& op, int64_t c);

}  // namespace aotc::ops
