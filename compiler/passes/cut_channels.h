// SPDX-License-Identifier: Apache-2.0
// Removes dead channels (channel_analysis.h) from the tensors of a graph. A tensor that loses channels gets another
// name, because it no longer equals the model's tensor.
#pragma once

#include "passes/channel_analysis.h"

namespace aotc::passes {

// Suffix of the name of a tensor that has only some of the model's channels.
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
