// SPDX-License-Identifier: Apache-2.0
// Rewrites a graph so that only live channels remain. Tensors that lose channels get another name, because they no
// longer equal the model's tensor.
#pragma once

#include "passes/channel_analysis.h"

namespace aotc::passes {

// Suffix of the name of a tensor that has only some of the model's channels.
inline constexpr std::string_view kLiveChannelsSuffix = " (live channels)";

struct CutChannels {
  int64_t tensors = 0;   // number of tensors that lost channels
  int64_t constant = 0;  // channels removed because they have one value
  int64_t unread = 0;    // channels removed because nothing reads them
};

// `live`: the result of find_live_channels for this graph. All or nothing: if an operator does not accept its new
// operands, the graph stays unchanged and nothing is counted.
CutChannels cut_channels(graph::Graph& graph, const ChannelAnalysis& analysis, const LiveChannels& live);

}  // namespace aotc::passes
