// SPDX-License-Identifier: Apache-2.0
#include "passes/pass.h"

#include <algorithm>
#include <map>

#include "ops/operator.h"
#include "passes/devices.h"
#include "support/repeats.h"

namespace aotc::passes {

namespace {

using graph::Graph;
using graph::Op;
using graph::TensorId;

constexpr size_t kLeastSteps = 3;
// Less is not worth another order: a table of weights, not a number that many operators read.
constexpr size_t kLeastWeights = 32;

// What an operator does and to what, but for quantisation and the values of constants.
std::string signature_of(const Graph& graph, const Op& op) {
  std::string out(op.name());
  for (const auto& [name, value] : op.attributes->print()) out += ";" + name + "=" + value;
  for (const auto* list : {&op.operands, &op.results}) {
    out += "|";
    for (TensorId id : *list) {
      if (!id.valid()) {
        out += "_,";
        continue;
      }
      const graph::TensorType& type = graph[id].type;
      out += graph::to_string(graph::TensorType{type.dtype, type.shape, {}}) + (graph.is_constant(id) ? "c," : ",");
    }
  }
  return out;
}

bool are_weights(const Graph& graph, TensorId id) {
  return graph.is_constant(id) && graph[id].constant->bytes.size() >= kLeastWeights;
}

// Do several operators read the same weights? Of most graphs this is known before operators are compared.
bool shares_weights(const Graph& graph) {
  std::map<const uint8_t*, size_t> readers;
  for (const Op& op : graph.ops)
    for (TensorId id : op.operands)
      if (are_weights(graph, id) && ++readers[graph[id].constant->bytes.data()] >= kLeastSteps) return true;
  return false;
}

class OrderOfSteps {
 public:
  explicit OrderOfSteps(const Graph& graph) : graph_(graph), definer_(graph::compute_use_def(graph).definer) {
    std::map<std::string, int> known;
    for (const Op& op : graph.ops)
      signatures_.push_back(known.emplace(signature_of(graph, op), static_cast<int>(known.size())).first->second);
  }

  // Do several operators of one kind read the same weights?
  bool kinds_share_weights() const {
    std::map<std::pair<int, const uint8_t*>, size_t> readers;
    for (size_t i = 0; i < graph_.ops.size(); ++i)
      for (TensorId id : graph_.ops[i].operands)
        if (are_weights(graph_, id)) ++readers[{signatures_[i], graph_[id].constant->bytes.data()}];
    return std::any_of(readers.begin(), readers.end(), [](const auto& r) { return r.second >= kLeastSteps; });
  }

  // Every operator right before the first that needs it, beginning with what the outputs need. Of
  // its operands the one that most depends on goes first: what an earlier step left, not what this
  // step reads.
  std::vector<int> on_demand() {
    done_.assign(graph_.ops.size(), false);
    std::vector<int> depth(graph_.ops.size(), 0);
    auto depth_of = [&](TensorId id) { return definer_of(id) < 0 ? -1 : depth[static_cast<size_t>(definer_of(id))]; };
    for (size_t i = 0; i < depth.size(); ++i) {
      demands_.push_back(graph_.ops[i].operands);
      for (TensorId id : demands_[i]) depth[i] = std::max(depth[i], depth_of(id) + 1);
      std::stable_sort(demands_[i].begin(), demands_[i].end(),
                       [&](TensorId a, TensorId b) { return depth_of(a) > depth_of(b); });
    }
    for (const graph::Port& port : graph_.outputs) demand(definer_of(port.tensor));
    for (const graph::State& state : graph_.states) demand(definer_of(state.after));
    for (size_t i = 0; i < graph_.ops.size(); ++i) demand(static_cast<int>(i));
    return std::move(order_);
  }

  // How many operators are in a turn behind the first of some body.
  int64_t repeated(const std::vector<int>& order) const {
    std::vector<int> list;
    for (int i : order) list.push_back(signatures_[static_cast<size_t>(i)]);
    auto gain = [](const Repeat& r) { return static_cast<int64_t>((r.count - 1) * r.period); };
    int64_t total = 0;
    for (const Repeat& r : find_repeats(list, kLeastSteps, gain)) total += gain(r);
    return total;
  }

  // Most bytes that are alive at a time; what is there from start to end counts in every order.
  int64_t most_alive(const std::vector<int>& order) const {
    std::vector<int> last(graph_.tensors.size(), -1);
    for (size_t at = 0; at < order.size(); ++at)
      for (TensorId id : graph_.ops[static_cast<size_t>(order[at])].operands)
        if (id.valid()) last[static_cast<size_t>(id.value)] = static_cast<int>(at);
    for (size_t i = 0; i < last.size(); ++i)
      if (graph_.is_kept({static_cast<int32_t>(i)})) last[i] = static_cast<int>(order.size());
    int64_t alive = 0, most = 0;
    for (size_t at = 0; at < order.size(); ++at) {
      const Op& op = graph_.ops[static_cast<size_t>(order[at])];
      for (TensorId id : op.results) alive += bytes_of(id);
      most = std::max(most, alive);
      for (TensorId id : op.results)
        if (id.valid() && last[static_cast<size_t>(id.value)] < 0) alive -= bytes_of(id);
      std::vector<TensorId> read = op.operands;
      std::sort(read.begin(), read.end());
      read.erase(std::unique(read.begin(), read.end()), read.end());
      for (TensorId id : read)
        if (definer_of(id) >= 0 && last[static_cast<size_t>(id.value)] == static_cast<int>(at)) alive -= bytes_of(id);
    }
    return most;
  }

 private:
  int definer_of(TensorId id) const { return id.valid() ? definer_[static_cast<size_t>(id.value)] : -1; }
  int64_t bytes_of(TensorId id) const { return id.valid() ? graph_[id].type.bytes() : 0; }

  void demand(int first) {
    struct Open {
      int op;
      size_t next;  // operand
    };
    std::vector<Open> open;
    auto enter = [&](int op) {
      if (op < 0 || done_[static_cast<size_t>(op)]) return;
      done_[static_cast<size_t>(op)] = true;
      open.push_back({op, 0});
    };
    enter(first);
    while (!open.empty()) {
      const std::vector<TensorId>& operands = demands_[static_cast<size_t>(open.back().op)];
      if (open.back().next < operands.size()) {
        enter(definer_of(operands[open.back().next++]));
        continue;
      }
      order_.push_back(open.back().op);
      open.pop_back();
    }
  }

  const Graph& graph_;
  std::vector<int> definer_;
  std::vector<int> signatures_;
  std::vector<std::vector<TensorId>> demands_;  // by operator: its operands in the order of on_demand
  std::vector<bool> done_;
  std::vector<int> order_;
};

}  // namespace

Status order_repeats(Graph& graph, const PassOptions& options, Diagnostics&) {
  if (options.devices && options.devices->devices.size() > 1) return success();
  if (!shares_weights(graph)) return success();
  OrderOfSteps steps(graph);
  if (!steps.kinds_share_weights()) return success();
  std::vector<int> now(graph.ops.size());
  for (size_t i = 0; i < now.size(); ++i) now[i] = static_cast<int>(i);
  const std::vector<int> order = steps.on_demand();
  const int64_t more_repeats = steps.repeated(order) - steps.repeated(now);
  const int64_t less_alive = steps.most_alive(now) - steps.most_alive(order);
  if (more_repeats < 0 || less_alive < 0 || more_repeats + less_alive == 0) return success();
  std::vector<Op> ops;
  for (int i : order) ops.push_back(std::move(graph.ops[static_cast<size_t>(i)]));
  graph.ops = std::move(ops);
  return success();
}

}  // namespace aotc::passes
