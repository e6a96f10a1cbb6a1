#include "passes/partition_devices.h"

#include <map>
#include <set>

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
    for (graph::Port& port : graph_.outputs)
      port.tensor = on_device(port.tensor, 0, graph_.location_of(port.tensor));
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

// What waits for a device should run late, what gives it work early.
enum Urgency { kLaunch, kFeed, kHost, kFetch };

Urgency urgency_of(const Graph& graph, const DeviceSet& set, const Op& op) {
  auto is_async = [&](int device) {
    return set.devices[static_cast<size_t>(device)].launch == Launch::kAsync;
  };
  if (is_copy(op)) {
    if (is_async(graph[op.results[0]].device)) return kFeed;
    return is_async(graph[op.operands[0]].device) ? kFetch : kHost;
  }
  return is_async(op.device) ? kLaunch : kHost;
}

// Of the operators that are ready, the most urgent, of equals the first.
std::vector<size_t> order(const Graph& graph, const DeviceSet& set) {
  graph::UseDef chains = graph::compute_use_def(graph);
  std::vector<int> missing(graph.ops.size(), 0);
  std::map<std::pair<int, size_t>, size_t> ready;
  auto enter = [&](size_t i) {
    ready[{urgency_of(graph, set, graph.ops[i]), i}] = i;
  };
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    std::set<TensorId> distinct(graph.ops[i].operands.begin(), graph.ops[i].operands.end());
    for (TensorId id : distinct)
      missing[i] += id.valid() && chains.definer[static_cast<size_t>(id.value)] >= 0;
    if (missing[i] == 0) enter(i);
  }
  std::vector<size_t> out;
  while (!ready.empty()) {
    size_t i = ready.begin()->second;
    ready.erase(ready.begin());
    out.push_back(i);
    for (TensorId id : graph.ops[i].results)
      for (int user : chains.users[static_cast<size_t>(id.value)])
        if (--missing[static_cast<size_t>(user)] == 0) enter(static_cast<size_t>(user));
  }
  return out;
}

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
  for (size_t i : order(graph, *options.devices)) ordered.push_back(graph.ops[i]);
  graph.ops = std::move(ordered);
  return success();
}

}  // namespace aotc::passes
