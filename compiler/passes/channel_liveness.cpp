// SPDX-License-Identifier: Apache-2.0
// The backward half of passes/channels.h: which channels are needed. Sets of live channels
// only grow, from outputs to inputs, until nothing changes.
#include <algorithm>

#include "passes/channels.h"
#include "passes/rewrite.h"

namespace aotc::passes {

using graph::Graph;
using graph::Op;
using graph::TensorId;
using ops::ChannelFlow;

namespace {

class Liveness {
 public:
  Liveness(const Graph& graph, const ChannelAnalysis& analysis)
      : graph_(graph), analysis_(analysis), weights_(graph.ops.size()) {}

  LiveChannels run() {
    find_cuttable();
    for (size_t t = 0; t < graph_.tensors.size(); ++t)
      live_.emplace_back(analysis_.ranges[t].size(), cuttable_[t] ? 0 : 1);
    propagate();
    // A tensor without elements would be no tensor: one channel stays of those nobody needs.
    for (std::vector<uint8_t>& channels : live_) {
      if (channels.empty() || std::count(channels.begin(), channels.end(), 1) != 0) continue;
      channels[0] = 1;
      propagate();
    }
    return std::move(live_);
  }

 private:
  std::vector<uint8_t>& live(TensorId id) { return live_[static_cast<size_t>(id.value)]; }

  // Tensors between operators that say how they treat channels, and that no caller sees.
  void find_cuttable() {
    cuttable_.assign(graph_.tensors.size(), false);
    for (size_t i = 0; i < graph_.ops.size(); ++i)
      if (analysis_.flows[i] != ChannelFlow::kOpaque)
        cuttable_[static_cast<size_t>(graph_.ops[i].results[0].value)] = true;
    for (size_t i = 0; i < graph_.ops.size(); ++i) {
      if (analysis_.flows[i] != ChannelFlow::kOpaque) continue;
      for (TensorId id : graph_.ops[i].operands)
        if (id.valid()) cuttable_[static_cast<size_t>(id.value)] = false;
    }
    for (const graph::Port& port : graph_.outputs) cuttable_[static_cast<size_t>(port.tensor.value)] = false;
    for (const graph::State& state : graph_.states) cuttable_[static_cast<size_t>(state.after.value)] = false;
  }

  void propagate() {
    bool changed = true;
    while (changed) {
      changed = false;
      for (size_t i = graph_.ops.size(); i-- > 0;) {
        if (analysis_.flows[i] == ChannelFlow::kOpaque) continue;
        changed |= analysis_.flows[i] == ChannelFlow::kEach ? join(graph_.ops[i]) : demand(i);
      }
    }
  }

  // kEach: what one has, all have.
  bool join(const Op& op) {
    std::vector<uint8_t> all = live(op.results[0]);
    auto each = [&](auto&& visit) {
      visit(live(op.results[0]));
      for (TensorId id : op.operands)
        if (id.valid() && !graph_.is_constant(id)) visit(live(id));
    };
    each([&](const std::vector<uint8_t>& channels) {
      for (size_t c = 0; c < all.size(); ++c) all[c] |= channels[c];
    });
    bool changed = false;
    each([&](std::vector<uint8_t>& channels) {
      changed |= channels != all;
      channels = all;
    });
    return changed;
  }

  // kSum: a channel with weights for a live result channel, unless a bias can stand for it.
  bool demand(size_t i) {
    const Op& op = graph_.ops[i];
    std::vector<uint8_t>& in = live(op.operands[0]);
    const std::vector<uint8_t>& out = live(op.results[0]);
    const ops::ChannelRanges& ranges = analysis_.ranges[static_cast<size_t>(op.operands[0].value)];
    bool changed = false;
    for (size_t k = 0; k < in.size(); ++k) {
      if (in[k] != 0) continue;
      if (ranges[k].constant() && folds_constant(analysis_.flows[i], graph_[op.operands[0]].type, ranges[k].low))
        continue;
      for (size_t c = 0; c < out.size() && in[k] == 0; ++c)
        if (out[c] != 0 && reads(i)[c * in.size() + k] != 0) in[k] = 1;
      changed |= in[k] != 0;
    }
    return changed;
  }

  // 1 where a result channel has a weight other than 0 for an operand channel.
  const std::vector<uint8_t>& reads(size_t i) {
    std::vector<uint8_t>& out = weights_[i];
    if (!out.empty()) return out;
    const Op& op = graph_.ops[i];
    const graph::Tensor& weights = graph_[op.operands[1]];
    auto channels = static_cast<size_t>(weights.type.shape[0]);
    size_t depth = live(op.operands[0]).size();
    size_t row = weights.constant->bytes.size() / channels;
    out.assign(channels * depth, 0);
    for (size_t c = 0; c < channels; ++c)
      for (size_t w = 0; w < row; ++w)
        if (weights.constant->bytes[c * row + w] != 0) out[c * depth + w % depth] = 1;
    return out;
  }

  const Graph& graph_;
  const ChannelAnalysis& analysis_;
  std::vector<bool> cuttable_;
  std::vector<std::vector<uint8_t>> weights_;  // by op, made when asked for
  LiveChannels live_;
};

}  // namespace

LiveChannels find_live_channels(const Graph& graph, const ChannelAnalysis& analysis) {
  return Liveness(graph, analysis).run();
}

}  // namespace aotc::passes
