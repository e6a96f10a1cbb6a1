// SPDX-License-Identifier: Apache-2.0
#include "passes/pass.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "ops/operator.h"
#include "passes/devices.h"
#include "passes/rewrite.h"

namespace aotc::passes {

using graph::Graph;
using graph::Op;
using graph::TensorId;

namespace {

bool is_copy(const Op& op) { return ops::definition_of(op).traits().device_copy; }

class Partition {
 public:
  explicit Partition(Graph& graph) : graph_(graph) {}

  void run() {
    std::vector<Op> ops = std::move(graph_.ops);
    graph_.ops.clear();
    for (Op& op : ops) {
      if (!is_copy(op)) {
        for (TensorId& id : op.operands) id = on_device(id, op.device, op.location);
        for (TensorId id : op.results) graph_[id].device = op.device;
      }
      graph_.ops.push_back(std::move(op));
      remember_copy(graph_.ops.back());
    }
    for (graph::Port& port : graph_.outputs) port.tensor = on_device(port.tensor, 0, graph_.location_of(port.tensor));
    for (graph::State& state : graph_.states) state.after = on_device(state.after, 0, graph_.location_of(state.after));
  }

 private:
  // A copy that the model has already serves the later readers, too.
  void remember_copy(const Op& op) {
    if (!is_copy(op)) return;
    copies_.try_emplace({op.operands[0], graph_[op.results[0]].device}, op.results[0]);
  }

  TensorId on_device(TensorId id, int device, const Location& where) {
    if (!id.valid() || graph_.is_constant(id) || graph_[id].device == device) return id;
    auto [at, is_new] = copies_.try_emplace({id, device}, TensorId{});
    if (!is_new) return at->second;
    graph::Tensor copy = graph_[id];
    copy.name += fmt::format("@{}", device);
    copy.device = device;
    Op op;
    op.definition = ops::operators().find("device_copy");
    op.attributes = op.definition->default_attributes();
    op.operands = {id};
    op.location = where;
    op.location.op_index = -1;
    op.location.op_type = "__copy";
    at->second = graph_.add_tensor(std::move(copy));
    op.results = {at->second};
    graph_.ops.push_back(std::move(op));
    return at->second;
  }

  Graph& graph_;
  std::map<std::pair<TensorId, int>, TensorId> copies_;
};

// A guess of how long an operator takes, in steps; only the ratio between host and device counts.
int64_t cost_of(const Graph& graph, const Op& op) {
  int64_t cost = ops::definition_of(op).macs({graph, op});
  for (TensorId id : op.results) cost += graph[id].type.elements();
  return cost;
}

// Plays the calls through on a clock: the host never waits while it has something else to do.
class Schedule {
 public:
  Schedule(const Graph& graph, const DeviceSet& set)
      : graph_(graph), set_(set), chains_(graph::compute_use_def(graph)), free_(set.devices.size(), 0) {}

  std::vector<size_t> order() {
    std::vector<int> missing(graph_.ops.size(), 0);
    for (size_t i = 0; i < graph_.ops.size(); ++i) {
      std::set<TensorId> distinct(graph_.ops[i].operands.begin(), graph_.ops[i].operands.end());
      for (TensorId id : distinct) missing[i] += id.valid() && chains_.definer[static_cast<size_t>(id.value)] >= 0;
      if (missing[i] == 0) ready_.insert(i);
    }
    std::vector<size_t> out;
    while (!ready_.empty()) {
      size_t i = pick();
      ready_.erase(i);
      out.push_back(i);
      run(graph_.ops[i]);
      for (TensorId id : graph_.ops[i].results)
        for (int user : chains_.users[static_cast<size_t>(id.value)])
          if (--missing[static_cast<size_t>(user)] == 0) ready_.insert(static_cast<size_t>(user));
    }
    return out;
  }

 private:
  bool is_async(int device) const { return set_.devices[static_cast<size_t>(device)].launch == Launch::kAsync; }
  bool is_launch(const Op& op) const { return !is_copy(op) && is_async(op.device); }

  // When the host can make the call: while a device works, nobody touches its tensors.
  int64_t start_of(const Op& op) const {
    int64_t start = now_;
    auto wait_for = [&](int device) {
      if (is_async(device)) start = std::max(start, free_[static_cast<size_t>(device)]);
    };
    wait_for(op.device);
    if (is_copy(op)) {
      wait_for(graph_[op.operands[0]].device);
      wait_for(graph_[op.results[0]].device);
    }
    return start;
  }

  // Of what can start at the same time: results that the host has work for, as they can be had without
  // waiting only before the next launch; then what leads to a launch; then the host's own work; then
  // results that nobody reads but the caller.
  enum Urgency { kFetch, kFeed, kLaunch, kHost, kFetchOutput };
  Urgency urgency_of(const Op& op) const {
    if (is_launch(op)) return kLaunch;
    if (!is_copy(op)) return kHost;
    if (is_async(graph_[op.results[0]].device)) return kFeed;
    if (!is_async(graph_[op.operands[0]].device)) return kHost;
    return chains_.users[static_cast<size_t>(op.results[0].value)].empty() ? kFetchOutput : kFetch;
  }

  // What need not wait; if all wait, who waits least. Of equals the most urgent, then the first.
  size_t pick() const {
    auto rank = [&](size_t i) {
      const Op& op = graph_.ops[i];
      return std::tuple(start_of(op), urgency_of(op), i);
    };
    return *std::min_element(ready_.begin(), ready_.end(), [&](size_t a, size_t b) { return rank(a) < rank(b); });
  }

  void run(const Op& op) {
    now_ = start_of(op);
    if (is_launch(op)) free_[static_cast<size_t>(op.device)] = now_ + cost_of(graph_, op);
    else now_ += cost_of(graph_, op);
  }

  const Graph& graph_;
  const DeviceSet& set_;
  graph::UseDef chains_;
  std::vector<int64_t> free_;  // by device: when it is done
  int64_t now_ = 0;
  std::set<size_t> ready_;
};

}  // namespace

Status partition_devices(Graph& graph, const PassOptions&, Diagnostics&) {
  Partition(graph).run();
  return success();
}

Status order_devices(Graph& graph, const PassOptions& options, Diagnostics&) {
  bool any = false;
  if (options.devices)
    for (const Device& d : options.devices->devices) any = any || d.launch == Launch::kAsync;
  if (!any) return success();
  std::vector<Op> ordered;
  for (size_t i : Schedule(graph, *options.devices).order()) ordered.push_back(graph.ops[i]);
  graph.ops = std::move(ordered);
  return success();
}

}  // namespace aotc::passes
