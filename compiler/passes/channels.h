// SPDX-License-Identifier: Apache-2.0
// ChannelAnalysis: the range of values in each channel of each int8 tensor, for all possible inputs of the network.
// From it, find_live_channels determines which channels are needed (live). A channel is dead if it has one constant
// value that its readers can fold into their biases, or if it is multiplied only by zeros. cut_channels removes dead
// channels.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/operator.h"

namespace aotc::passes {

struct ChannelAnalysis {
  std::vector<ops::ChannelFlow> flows;     // by op: how channels of its result depend on its operands
  std::vector<ops::ChannelRanges> ranges;  // by tensor; empty for tensors without channels
};
ChannelAnalysis analyze_channels(const graph::Graph& graph);

// live[tensor][channel] is 1 if the channel must stay. The list is empty for a tensor without channels; any other
// tensor keeps at least one. If an operator has ChannelFlow::kEach (channel by channel), its operands and result keep
// the same channels.
using LiveChannels = std::vector<std::vector<uint8_t>>;
LiveChannels find_live_channels(const graph::Graph& graph, const ChannelAnalysis& analysis);

// True if the last dimension of the tensor counts as its channels: the tensor is int8, quantised per tensor, and not
// empty.
bool has_channels(const graph::TensorType& type);

// True if an operator of this flow can fold channels of its operand 0 that always have `value` into its bias.
bool folds_constant(ops::ChannelFlow flow, const graph::TensorType& operand, int32_t value);

// Suffix of the name of a tensor that lost channels: it no longer equals the model's tensor.
inline constexpr std::string_view kLiveChannelsSuffix = " (live channels)";

struct CutChannels {
  int64_t tensors = 0;   // number of tensors that lost channels
  int64_t constant = 0;  // channels removed because their value is constant
  int64_t unread = 0;    // channels removed because nothing reads them
};

// Removes all dead channels, or none if an operator does not accept its new operands: the graph is then unchanged, and
// all counts are 0. `live`: the result of find_live_channels for this graph.
CutChannels cut_channels(graph::Graph& graph, const ChannelAnalysis& analysis, const LiveChannels& live);

}  // namespace aotc::passes
