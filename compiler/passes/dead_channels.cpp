// SPDX-License-Identifier: Apache-2.0
#include "passes/pass.h"

#include <algorithm>
#include <optional>

#include "passes/channels.h"
#include "passes/rewrite.h"

namespace aotc::passes {

using graph::Graph;
using graph::Op;
using graph::Tensor;
using graph::TensorId;
using graph::TensorType;
using ops::ChannelFlow;

namespace {

using Kept = std::vector<size_t>;

Kept kept_of(const std::vector<uint8_t>& live) {
  Kept kept;
  for (size_t c = 0; c < live.size(); ++c)
    if (live[c] != 0) kept.push_back(c);
  return kept;
}

std::string live_name(const std::string& name) {
  bool named = std::string_view(name).ends_with(kLiveChannelsSuffix);
  return named ? name : name + std::string(kLiveChannelsSuffix);
}

// The type with only the kept indices along `axis`.
TensorType cut_type(TensorType type, size_t axis, const Kept& kept) {
  type.shape[axis] = static_cast<int64_t>(kept.size());
  graph::Quantization& q = type.quantization;
  if (!q.per_channel() || q.axis != static_cast<int>(axis)) return type;
  graph::Quantization all = q;
  q.scale.clear();
  q.zero_point.clear();
  for (size_t c : kept) {
    q.scale.push_back(all.scale[c]);
    if (c < all.zero_point.size()) q.zero_point.push_back(all.zero_point[c]);
  }
  if (all.zero_point.size() == 1) q.zero_point = all.zero_point;
  if (!q.per_channel()) q.axis = 0;
  return type;
}

// A copy of a constant with only the kept indices along `axis`.
TensorId cut_constant(Graph& graph, TensorId id, size_t axis, const Kept& kept) {
  const Tensor& from = graph[id];
  auto length = static_cast<size_t>(from.type.shape[axis]);
  auto inner = static_cast<size_t>(size_of(from.type.dtype));
  for (size_t d = axis + 1; d < from.type.shape.size(); ++d) inner *= static_cast<size_t>(from.type.shape[d]);
  std::span<const uint8_t> bytes = from.constant->bytes;
  std::vector<uint8_t> out;
  for (size_t start = 0; start < bytes.size(); start += length * inner)
    for (size_t c : kept) {
      auto slice = bytes.subspan(start + c * inner, inner);
      out.insert(out.end(), slice.begin(), slice.end());
    }
  TensorType type = cut_type(from.type, axis, kept);
  return graph.add_constant(live_name(from.name), std::move(type), std::move(out));
}

class Cutter {
 public:
  Cutter(Graph& graph, const ChannelAnalysis& analysis, const LiveChannels& live)
      : graph_(graph), analysis_(analysis), live_(live) {}

  std::optional<CutChannels> run() {
    std::vector<size_t> changed;
    for (size_t i = 0; i < graph_.ops.size(); ++i) {
      if (analysis_.flows[i] == ChannelFlow::kOpaque) continue;
      Op& op = graph_.ops[i];
      if (!loses(op.results[0]) && !loses(op.operands[0])) continue;
      changed.push_back(i);
      if (analysis_.flows[i] == ChannelFlow::kEach) {
        cut_each(op);
      } else if (!cut_sum(op)) {
        return std::nullopt;
      }
    }
    CutChannels counts;
    for (size_t t = 0; t < live_.size(); ++t) cut_tensor(t, counts);
    for (size_t i : changed)
      if (!is_valid(graph_, graph_.ops[i])) return std::nullopt;
    return counts;
  }

 private:
  // Tensors that cutting itself adds are constants, and whole.
  bool loses(TensorId id) const {
    auto at = static_cast<size_t>(id.value);
    return at < live_.size() && std::count(live_[at].begin(), live_[at].end(), 0) != 0;
  }

  void cut_each(Op& op) {
    const std::vector<uint8_t>& live = live_[static_cast<size_t>(op.results[0].value)];
    Kept kept = kept_of(live);
    op.attributes = ops::attributes_for_channels({graph_, op}, static_cast<int64_t>(kept.size()));
    for (TensorId& id : op.operands) {
      if (!graph_.is_constant(id)) continue;
      const graph::Shape& shape = graph_[id].type.shape;
      if (!shape.empty() && static_cast<size_t>(shape.back()) == live.size())
        id = cut_constant(graph_, id, shape.size() - 1, kept);
    }
  }

  // False if a bias leaves 32 bits.
  bool cut_sum(Op& op) {
    Kept in = kept_of(live_[static_cast<size_t>(op.operands[0].value)]);
    Kept out = kept_of(live_[static_cast<size_t>(op.results[0].value)]);
    if (!fold_into_bias(op)) return false;
    if (loses(op.results[0])) {
      op.attributes = ops::attributes_for_channels({graph_, op}, static_cast<int64_t>(out.size()));
      op.operands[1] = cut_constant(graph_, op.operands[1], 0, out);
      if (op.operands.size() > 2 && op.operands[2].valid()) cut_bias(op.operands[2], out);
    }
    if (!loses(op.operands[0])) return true;
    size_t last = graph_[op.operands[1]].type.shape.size() - 1;
    op.operands[1] = cut_constant(graph_, op.operands[1], last, in);
    return true;
  }

  // A bias may have more dimensions than its one that counts.
  void cut_bias(TensorId& id, const Kept& out) {
    const graph::Shape& shape = graph_[id].type.shape;
    auto axis = static_cast<size_t>(std::max_element(shape.begin(), shape.end()) - shape.begin());
    if (!shape.empty()) id = cut_constant(graph_, id, axis, out);
  }

  // Adds what the removed constant channels of operand 0 contribute.
  bool fold_into_bias(Op& op) {
    const Tensor& input = graph_[op.operands[0]];
    const std::vector<uint8_t>& live = live_[static_cast<size_t>(op.operands[0].value)];
    const auto& ranges = analysis_.ranges[static_cast<size_t>(op.operands[0].value)];
    const Tensor& weights = graph_[op.operands[1]];
    int64_t channels = weights.type.shape[0], row = weights.type.elements() / channels;
    std::vector<int64_t> more(static_cast<size_t>(channels), 0);
    for (int64_t i = 0; i < channels * row; ++i) {
      auto k = static_cast<size_t>(i) % live.size();
      if (live[k] != 0 || !ranges[k].constant()) continue;
      more[static_cast<size_t>(i / row)] +=
          int64_t{ranges[k].low - input.type.zero_point()} * weights.constant->get<int8_t>(i);
    }
    if (std::count(more.begin(), more.end(), 0) == channels) return true;
    return add_to_bias(op, more);
  }

  bool add_to_bias(Op& op, const std::vector<int64_t>& more) {
    bool present = op.operands.size() > 2 && op.operands[2].valid();
    Tensor bias;
    bias.name = live_name(present ? graph_[op.operands[2]].name : std::string("bias"));
    bias.type.dtype = DType::kI32;
    bias.type.shape = {static_cast<int64_t>(more.size())};
    if (present) bias.type = graph_[op.operands[2]].type;
    std::vector<uint8_t> bytes;
    for (size_t c = 0; c < more.size(); ++c) {
      int64_t sum = more[c];
      if (present) sum += graph_[op.operands[2]].constant->get<int32_t>(static_cast<int64_t>(c));
      if (sum != static_cast<int32_t>(sum)) return false;
      for (int shift = 0; shift < 32; shift += 8)
        bytes.push_back(static_cast<uint8_t>(static_cast<uint64_t>(sum) >> shift));
    }
    op.operands.resize(std::max<size_t>(op.operands.size(), 3));
    op.operands[2] = graph_.add_constant(bias.name, bias.type, std::move(bytes));
    return true;
  }

  void cut_tensor(size_t at, CutChannels& counts) {
    TensorId id{static_cast<int32_t>(at)};
    if (!loses(id)) return;
    Tensor& tensor = graph_[id];
    tensor.type.shape.back() = static_cast<int64_t>(kept_of(live_[at]).size());
    tensor.name = live_name(tensor.name);
    ++counts.tensors;
    for (size_t c = 0; c < live_[at].size(); ++c)
      if (live_[at][c] == 0) ++(analysis_.ranges[at][c].constant() ? counts.constant : counts.unread);
  }

  Graph& graph_;
  const ChannelAnalysis& analysis_;
  const LiveChannels& live_;
};

}  // namespace

CutChannels cut_channels(Graph& graph, const ChannelAnalysis& analysis, const LiveChannels& live) {
  auto whole = [](const std::vector<uint8_t>& channels) {
    return std::count(channels.begin(), channels.end(), 0) == 0;
  };
  if (std::all_of(live.begin(), live.end(), whole)) return {};
  Graph cut = graph;
  auto counts = Cutter(cut, analysis, live).run();
  if (!counts) return {};
  graph = std::move(cut);
  return *counts;
}

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
