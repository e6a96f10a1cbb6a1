// SPDX-License-Identifier: Apache-2.0
// Rewrites a graph so that only live channels are left. The one thing to know: tensors that lose
// channels get another name, because they are no longer what the model calls by the old one.
#pragma once

#include "passes/channel_analysis.h"

namespace aotc::passes {

// Behind the name of a tensor that holds only some of the channels of the model's.
inline constexpr std::string_view kLiveChannelsSuffix = " (live channels)";

struct CutChannels {
  int64_t tensors = 0;   // that lost channels
  int64_t constant = 0;  // channels removed because they have one value
  int64_t unread = 0;    // channels removed because nobody reads them
};

// `live` is find_live_channels' of this graph. All or nothing: if an operator does not accept its
// new operands, the graph stays as it is and nothing is counted.
CutChannels cut_channels(graph::Graph& graph, const ChannelAnalysis& analysis,
                         const LiveChannels& live);

}  // namespace aotc::passes
