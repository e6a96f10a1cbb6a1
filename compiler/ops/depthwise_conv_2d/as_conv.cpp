// A depthwise convolution of one channel is an ordinary one with the weights' axes swapped, whose
// kernels share the windows among all result channels.
#include <algorithm>

#include "ops/conv_2d/conv_2d.h"
#include "ops/depthwise_conv_2d/depthwise_conv_2d.h"

namespace aotc::ops {

namespace {

// [1][tap][channel] as [channel][tap][1].
graph::Tensor conv_weights(const OpView& op) {
  graph::Tensor out = op.operand_tensor(1);
  const graph::Shape w = out.type.shape;
  out.type.shape = {w[3], w[1], w[2], 1};
  out.type.quantization.axis = 0;
  auto element = static_cast<size_t>(size_of(out.type.dtype));
  auto taps = static_cast<size_t>(w[1] * w[2]), channels = static_cast<size_t>(w[3]);
  std::vector<uint8_t> bytes(taps * channels * element);
  const uint8_t* from = out.constant->bytes.data();
  for (size_t t = 0; t < taps; ++t)
    for (size_t c = 0; c < channels; ++c)
      std::copy_n(from + (t * channels + c) * element, element,
                  bytes.data() + (c * taps + t) * element);
  out.constant = graph::own_bytes(std::move(bytes));
  return out;
}

}  // namespace

bool is_plain_conv(const OpView& op) {
  const graph::Shape& w = op.operand(1).shape;
  return op.operand(0).shape[3] == 1 && w[3] > 1 && w[1] * w[2] > 1 && op.constant(1);
}

Lowered lower_as_conv_2d(const OpView& op, const TargetInfo& target) {
  graph::Graph graph;
  graph::Op conv;
  auto attributes = std::make_shared<Conv2DAttrs>();
  static_cast<WindowFields&>(*attributes) = op.attrs<DepthwiseConv2DAttrs>();
  conv.attributes = attributes;
  conv.location = op.where();
  auto add = [&](const graph::Tensor& tensor) {
    graph.tensors.push_back(tensor);
    return graph::TensorId{static_cast<int32_t>(graph.tensors.size()) - 1};
  };
  conv.operands = {add(op.operand_tensor(0)), add(conv_weights(op))};
  if (op.has_operand(2)) conv.operands.push_back(add(op.operand_tensor(2)));
  conv.results = {add(op.graph[op.op.results[0]])};
  return lower_conv_2d(OpView{graph, conv}, target);
}

}  // namespace aotc::ops
