// SPDX-License-Identifier: Apache-2.0
#include "passes/dead_channels.h"

#include "passes/cut_channels.h"

namespace aotc::passes {

Status remove_dead_channels(graph::Graph& graph, const PassOptions& options, Diagnostics&) {
  if (options.keep_dead_channels) return success();
  ChannelAnalysis analysis = analyze_channels(graph);
  CutChannels cut = cut_channels(graph, analysis, find_live_channels(graph, analysis));
  if (options.statistics == nullptr) return success();
  options.statistics->channels_cut_tensors += cut.tensors;
  options.statistics->constant_channels += cut.constant;
  options.statistics->unread_channels += cut.unread;
  return success();
}

}  // namespace aotc::passes
