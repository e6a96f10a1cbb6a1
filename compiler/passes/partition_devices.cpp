#include "passes/partition_devices.h"

#include <algorithm>
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

// Orders operators by pretending to run them: devices that launch without waiting work while the host
// goes on, until something touches their memory. Work is counted in MACs, or in elements where there
// are none; it need not be right, only keep both sides busy.
class Order {
 public:
  Order(const Graph& graph, const DeviceSet& set)
      : graph_(graph), devices_(set.devices), left_(devices_.size(), kIdle) {}

  std::vector<size_t> run() {
    graph::UseDef chains = graph::compute_use_def(graph_);
    std::vector<int> missing(graph_.ops.size(), 0);
    std::set<size_t> ready;
    for (size_t i = 0; i < graph_.ops.size(); ++i) {
      const auto& operands = graph_.ops[i].operands;
      for (TensorId id : std::set<TensorId>(operands.begin(), operands.end()))
        missing[i] += id.valid() && chains.definer[static_cast<size_t>(id.value)] >= 0;
      if (missing[i] == 0) ready.insert(i);
    }
    std::vector<size_t> out;
    while (!ready.empty()) {
      size_t next = *std::min_element(ready.begin(), ready.end(), [&](size_t a, size_t b) {
        return std::pair{rank(graph_.ops[a]), a} < std::pair{rank(graph_.ops[b]), b};
      });
      ready.erase(next);
      out.push_back(next);
      take(graph_.ops[next]);
      for (TensorId id : graph_.ops[next].results)
        for (int user : chains.users[static_cast<size_t>(id.value)])
          if (--missing[static_cast<size_t>(user)] == 0) ready.insert(static_cast<size_t>(user));
    }
    return out;
  }

 private:
  static constexpr int64_t kIdle = -1;

  bool is_async(int device) const {
    return devices_[static_cast<size_t>(device)].launch == Launch::kAsync;
  }
  bool is_launch(const Op& op) const { return !is_copy(op) && is_async(op.device); }
  // The device whose memory or cores it uses; 0 if it is the host's alone.
  int device_of(const Op& op) const {
    if (!is_copy(op)) return is_async(op.device) ? op.device : 0;
    int to = graph_[op.results[0]].device;
    return is_async(to) ? to : is_async(graph_[op.operands[0]].device) ? graph_[op.operands[0]].device : 0;
  }
  int64_t work_of(const Op& op) const {
    int64_t macs = ops::definition_of(op).macs({graph_, op});
    return macs > 0 ? macs : op.results.empty() ? 0 : graph_[op.results[0]].type.elements();
  }

  // The lowest first. With an idle device: results out of it while that is free, then operands to it,
  // then its next launch, then what is the host's. While it works: the host's own work, as long as
  // that is expected to be the shorter.
  int rank(const Op& op) const {
    int device = device_of(op);
    bool fetches = is_copy(op) && device != graph_[op.results[0]].device;
    if (device == 0) return 4;
    int64_t left = left_[static_cast<size_t>(device)];
    if (left == kIdle) return fetches ? 0 : is_copy(op) ? 1 : 2;
    if (fetches) return 7;
    return left > 0 ? (is_copy(op) ? 5 : 6) : 3;
  }

  void take(const Op& op) {
    int device = device_of(op);
    if (device != 0) left_[static_cast<size_t>(device)] = kIdle;  // the host waits for it
    if (is_launch(op)) {
      left_[static_cast<size_t>(device)] = work_of(op);
      return;
    }
    for (int64_t& left : left_)
      if (left != kIdle) left = std::max<int64_t>(left - work_of(op), 0);
  }

  const Graph& graph_;
  const std::vector<Device>& devices_;
  std::vector<int64_t> left_;  // by device: work of the launch that is under way
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
  for (size_t i : Order(graph, *options.devices).run()) ordered.push_back(graph.ops[i]);
  graph.ops = std::move(ordered);
  return success();
}

}  // namespace aotc::passes
