// SPDX-License-Identifier: Apache-2.0
// The forward half of passes/channels.h: value ranges, from inputs to outputs.
#include <algorithm>

#include "passes/channels.h"
#include "passes/exhaustive.h"
#include "passes/rewrite.h"

namespace aotc::passes {

using graph::Graph;
using graph::Op;
using graph::Tensor;
using graph::TensorId;
using ops::ChannelFlow;
using ops::ChannelRanges;
using ops::ValueRange;

bool has_channels(const graph::TensorType& type) {
  return type.dtype == DType::kI8 && !type.shape.empty() && type.elements() > 0 && !type.quantization.per_channel();
}

bool folds_constant(ChannelFlow flow, const graph::TensorType& operand, int32_t value) {
  return flow == ChannelFlow::kSum || (flow == ChannelFlow::kPaddedSum && value == operand.zero_point());
}

namespace {

size_t channels_of(const graph::TensorType& type) { return static_cast<size_t>(type.shape.back()); }

// A function of one stored value that is the same on every device.
bool is_byte_function(const Graph& graph, const Op& op) {
  ops::Traits traits = ops::definition_of(op).traits();
  return traits.elementwise && !traits.uses_libm && is_unary(op) && has_channels(graph[op.operands[0]].type);
}

// Constants are cut with the channels, or have one element for all of them.
bool constant_follows(const Tensor& constant, size_t channels) {
  const graph::Shape& shape = constant.type.shape;
  return shape.empty() || shape.back() == 1 || static_cast<size_t>(shape.back()) == channels;
}

bool each_is_possible(const Graph& graph, const Op& op, size_t channels) {
  return std::all_of(op.operands.begin(), op.operands.end(), [&](TensorId id) {
    if (!id.valid()) return true;
    const Tensor& operand = graph[id];
    if (operand.constant) return constant_follows(operand, channels);
    return has_channels(operand.type) && channels_of(operand.type) == channels;
  });
}

// Operand 0 is data, all others are constants.
bool sum_is_possible(const Graph& graph, const Op& op) {
  if (graph.is_constant(op.operands[0])) return false;
  for (size_t i = 1; i < op.operands.size(); ++i)
    if (op.operands[i].valid() && !graph.is_constant(op.operands[i])) return false;
  return has_channels(graph[op.operands[0]].type);
}

ChannelFlow flow_of(const Graph& graph, const Op& op) {
  if (op.results.size() != 1 || op.operands.empty() || !op.operands[0].valid()) return ChannelFlow::kOpaque;
  const Tensor& result = graph[op.results[0]];
  if (!has_channels(result.type)) return ChannelFlow::kOpaque;
  ChannelFlow flow = ops::channel_flow({graph, op});
  if (flow == ChannelFlow::kOpaque && is_byte_function(graph, op)) flow = ChannelFlow::kEach;
  if (flow == ChannelFlow::kOpaque) return flow;
  bool possible =
      flow == ChannelFlow::kEach ? each_is_possible(graph, op, channels_of(result.type)) : sum_is_possible(graph, op);
  return possible ? flow : ChannelFlow::kOpaque;
}

// Of an int8 constant of an operator with `channels` channels: by channel if it has as many.
ChannelRanges ranges_of_constant(const Tensor& constant, size_t channels) {
  bool by_channel = !constant.type.shape.empty() && channels_of(constant.type) == channels;
  ChannelRanges ranges(by_channel ? channels : 1, {127, -128});
  for (int64_t i = 0; i < constant.type.elements(); ++i) {
    int32_t value = constant.constant->get<int8_t>(i);
    ValueRange& range = ranges[static_cast<size_t>(i) % ranges.size()];
    range = {std::min(range.low, value), std::max(range.high, value)};
  }
  ranges.resize(channels, ranges[0]);
  return ranges;
}

ChannelRanges ranges_of_byte_function(const Graph& graph, const Op& op, const ChannelRanges& in) {
  auto table = evaluate_all_values(graph, {&op});
  if (!table || table->size() != 256) return ChannelRanges(in.size());
  ChannelRanges out;
  for (const ValueRange& range : in) {
    auto at = [&](int32_t value) -> int32_t { return static_cast<int8_t>((*table)[static_cast<size_t>(value + 128)]); };
    ValueRange image{at(range.low), at(range.low)};
    for (int32_t v = range.low; v <= range.high; ++v) image = {std::min(image.low, at(v)), std::max(image.high, at(v))};
    out.push_back(image);
  }
  return out;
}

ChannelRanges ranges_of_result(const Graph& graph, const Op& op, ChannelFlow flow, const ChannelAnalysis& known) {
  size_t channels = channels_of(graph[op.results[0]].type);
  std::vector<ChannelRanges> operands;
  for (TensorId id : op.operands) {
    ChannelRanges& ranges = operands.emplace_back();
    if (!id.valid() || graph[id].type.dtype != DType::kI8) continue;
    if (!graph.is_constant(id)) {
      ranges = known.ranges[static_cast<size_t>(id.value)];
    } else if (flow == ChannelFlow::kEach && graph[id].type.elements() > 0) {
      ranges = ranges_of_constant(graph[id], channels);
    }
  }
  if (ops::channel_flow({graph, op}) == ChannelFlow::kOpaque) return ranges_of_byte_function(graph, op, operands[0]);
  return ops::definition_of(op).as<ops::Prunable>()->channel_ranges({graph, op}, operands);
}

}  // namespace

ChannelAnalysis analyze_channels(const Graph& graph) {
  ChannelAnalysis out;
  for (const Tensor& tensor : graph.tensors)
    out.ranges.emplace_back(!tensor.constant && has_channels(tensor.type) ? channels_of(tensor.type) : 0);
  for (const Op& op : graph.ops) {
    ChannelFlow flow = flow_of(graph, op);
    out.flows.push_back(flow);
    if (flow == ChannelFlow::kOpaque) continue;
    out.ranges[static_cast<size_t>(op.results[0].value)] = ranges_of_result(graph, op, flow, out);
  }
  return out;
}

}  // namespace aotc::passes
