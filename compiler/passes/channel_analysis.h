// SPDX-License-Identifier: Apache-2.0
// ChannelAnalysis: the range of every channel of every int8 tensor, and whether the channel is needed. Both are facts
// about all inputs of the network. A channel that is not live is either one constant value that its readers can fold
// into their biases, or multiplied only by zeros.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/operator.h"

namespace aotc::passes {

struct ChannelAnalysis {
  std::vector<ops::ChannelFlow> flows;     // by op: the flow that its definition states and its tensors permit
  std::vector<ops::ChannelRanges> ranges;  // by tensor; empty for tensors without channels
};
ChannelAnalysis analyze_channels(const graph::Graph& graph);

// live[tensor][channel] is 1 if the channel must stay. The list of a tensor without channels is empty. Every other
// tensor keeps at least one channel, and tensors connected by an operator with ChannelFlow::kEach keep the same
// channels.
using LiveChannels = std::vector<std::vector<uint8_t>>;
LiveChannels find_live_channels(const graph::Graph& graph, const ChannelAnalysis& analysis);

// True for a tensor whose last dimension has channels: int8, quantised per tensor, not empty.
bool has_channels(const graph::TensorType& type);

// True if operand 0's channels of constant value `value` can move into the bias of an operator of this flow.
bool folds_constant(ops::ChannelFlow flow, const graph::TensorType& operand, int32_t value);

}  // namespace aotc::passes
