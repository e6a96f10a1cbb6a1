// SPDX-License-Identifier: Apache-2.0
// What every channel of every int8 tensor can be, and which of them are needed. The one thing to
// know: both are facts about all inputs of the network; a channel that is not live is either one
// constant value that its readers can take into their biases, or multiplied by zeros only.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/operator.h"

namespace aotc::passes {

struct ChannelAnalysis {
  std::vector<ops::ChannelFlow> flows;     // by op: what its definition says and its tensors allow
  std::vector<ops::ChannelRanges> ranges;  // by tensor; empty for tensors without channels
};
ChannelAnalysis analyze_channels(const graph::Graph& graph);

// By tensor and channel, 1 if it must stay; empty for tensors without channels. Every tensor has at
// least one, and tensors that an operator with ChannelFlow::kEach connects have the same ones.
using LiveChannels = std::vector<std::vector<uint8_t>>;
LiveChannels find_live_channels(const graph::Graph& graph, const ChannelAnalysis& analysis);

// Is that a tensor whose last dimension holds channels: int8, quantised per tensor, not empty?
bool has_channels(const graph::TensorType& type);

// Can operand 0's channels of constant value `value` move into the bias of an operator of this
// flow?
bool folds_constant(ops::ChannelFlow flow, const graph::TensorType& operand, int32_t value);

}  // namespace aotc::passes
