// SPDX-License-Identifier: Apache-2.0
#include "ops/conv_2d/shape.h"

namespace aotc::ops {

ConvShape::ConvShape(const OpView& op) {
  const graph::Shape& w = op.operand(1).shape;
  window = window_of(op, op.attrs<Conv2DAttrs>(), w[1], w[2]);
  in_channels = op.operand(0).shape[3];
  out_channels = w[0];
  group_in = w[3];
  k = w[1] * w[2] * w[3];
  auto same = [](const WindowAxis& a) { return a.kernel == 1 && a.stride == 1 && a.in == a.out; };
  pointwise = !grouped() && same(window.y) && same(window.x);
}

Requantization conv_requantization(const OpView& op, std::vector<AccRange> ranges) {
  const auto& attrs = op.attrs<Conv2DAttrs>();
  if (gives_sums(op)) return Requantization::of_sums(op.operand(1).shape[0], std::move(ranges));
  return {conv_scales(op.operand(0), op.operand(1), op.result(), op.operand(1).shape[0], attrs.rounding),
          std::move(ranges),
          rounding_of(attrs.rounding, Rounding::kDouble),
          op.result().zero_point(),
          quantized_clamp(attrs.activation, op.result()),
          op.graph.open_constants};
}

ConvScaling::ConvScaling(const OpView& op, const ConvShape& shape) : ConvScaling(op, shape, centred_weights(op)) {}

ConvScaling::ConvScaling(const OpView& op, const ConvShape& shape, const std::vector<int16_t>& weights)
    : folded(fold_bias(op, shape.out_channels,
                       [&](int64_t c) {
                         return std::vector<int32_t>(weights.begin() + c * shape.k,
                                                     weights.begin() + (c + 1) * shape.k);
                       })),
      requantization(conv_requantization(op, folded.ranges)) {
  requantization.tame_constant_channels(folded.bias);
}

WideScaling conv_wide_scaling(const OpView& op, const ConvShape& shape) {
  std::vector<int8_t> w = op.constant(1)->to_vector<int8_t>();
  return wide_scaling(op, shape.out_channels, convolution_rounding(op, op.attrs<Conv2DAttrs>().rounding),
                      op.attrs<Conv2DAttrs>().activation, [&](int64_t c) {
                        return std::vector<int32_t>(w.begin() + c * shape.k, w.begin() + (c + 1) * shape.k);
                      });
}

}  // namespace aotc::ops
