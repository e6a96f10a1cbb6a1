// SPDX-License-Identifier: Apache-2.0
#include "ops/conv_2d/neighbours.h"

#include <algorithm>

#include "ops/conv_2d/shape.h"

namespace aotc::ops {

namespace {

// Weights [2][kh][kw + stride][channels] of weights [1][kh][kw][channels]; `stride`: elements of the second channel's
// row before its window.
std::vector<uint8_t> shifted_weights(const std::vector<int8_t>& w, int64_t rows, int64_t row, int64_t stride) {
  std::vector<uint8_t> out(static_cast<size_t>(2 * rows * (row + stride)));
  for (int64_t channel = 0; channel < 2; ++channel)
    for (int64_t y = 0; y < rows; ++y)
      std::copy_n(w.begin() + y * row, row, out.begin() + (channel * rows + y) * (row + stride) + channel * stride);
  return out;
}

}  // namespace

std::optional<ConvOfNeighbours> ConvOfNeighbours::of(const OpView& op) {
  const ConvShape conv(op);
  const WindowAxis& x = conv.window.x;
  const bool int8 = op.operand(0).dtype == DType::kI8 && op.operand(1).dtype == DType::kI8 &&
                    op.result().dtype == DType::kI8 && op.constant(1) != nullptr;
  if (!int8 || conv.grouped() || conv.out_channels != 1 || x.dilation != 1 || x.out % 2 != 0) return std::nullopt;
  ConvOfNeighbours made;
  made.graph_.name = op.graph.name;
  made.graph_.source_file = op.graph.source_file;
  made.graph_.open_constants = op.graph.open_constants;
  made.op_ = op.op;
  auto attributes = std::make_shared<Conv2DAttrs>(op.attrs<Conv2DAttrs>());
  std::vector<graph::Tensor> tensors;
  for (size_t i = 0; i < op.operand_count(); ++i)
    tensors.push_back(op.has_operand(i) ? op.operand_tensor(i) : graph::Tensor{});
  graph::Tensor& weights = tensors[1];
  const int64_t stride = x.stride * conv.in_channels;
  weights.constant = graph::own_bytes(shifted_weights(weights.constant->to_vector<int8_t>(), conv.window.y.kernel,
                                                      x.kernel * conv.in_channels, stride));
  weights.type.shape[0] = 2;
  if (conv.pointwise) {
    // Two pixels are one of twice the channels.
    tensors[0].type.shape[2] /= 2;
    tensors[0].type.shape[3] = weights.type.shape[3] = 2 * conv.in_channels;
  } else {
    weights.type.shape[2] += x.stride;
    attributes->stride_w *= 2;
    // The last window ends where it ended before.
    attributes->pad_right = static_cast<int32_t>(std::max<int64_t>(0, x.start(x.out - 1) + x.kernel - x.in));
  }
  made.op_.attributes = std::move(attributes);
  if (op.has_operand(2)) {
    graph::Tensor& bias = tensors[2];
    if (!bias.constant) return std::nullopt;
    std::vector<uint8_t> twice(bias.constant->bytes.begin(), bias.constant->bytes.end());
    twice.insert(twice.end(), bias.constant->bytes.begin(), bias.constant->bytes.end());
    bias.constant = graph::own_bytes(std::move(twice));
    bias.type.shape = {2};
  }
  graph::Tensor result = op.graph[op.op.results[0]];
  result.type.shape[2] /= 2;
  result.type.shape[3] = 2;
  for (size_t i = 0; i < tensors.size(); ++i)
    if (op.has_operand(i)) made.op_.operands[i] = made.graph_.add_tensor(std::move(tensors[i]));
  made.op_.results[0] = made.graph_.add_tensor(std::move(result));
  return made;
}

}  // namespace aotc::ops
