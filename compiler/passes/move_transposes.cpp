// SPDX-License-Identifier: Apache-2.0
#include "passes/pass.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "passes/layout.h"

namespace aotc::passes {

using graph::Graph;
using graph::TensorId;
using ops::Order;

namespace {

// The result of one search: operators that work in another order, and the roots that they read and write.
struct Candidate {
  WorkOrders works;
  std::set<TensorId> roots;
};
using Candidates = std::vector<Candidate>;

class Search {
 public:
  Search(Graph& graph, const PassOptions& options, Diagnostics& diags)
      : graph_(graph), options_(options), diags_(diags) {}

  // Is there a graph that transposes less? Then it is the graph now. Elements count first, then bytes, then operators.
  bool improve() {
    const Layout layout(graph_);
    if (!layout.has_orders()) return false;
    Candidates waiting = find(layout);
    // Candidates of one wave share no root, so the gain of each is its own.
    while (!waiting.empty()) {
      Candidates wave, later;
      std::set<TensorId> taken;
      for (Candidate& c : waiting) {
        const bool apart =
            std::none_of(c.roots.begin(), c.roots.end(), [&](TensorId id) { return taken.contains(id); });
        if (apart) taken.insert(c.roots.begin(), c.roots.end());
        (apart ? wave : later).push_back(std::move(c));
      }
      if (take_better(layout, wave)) return true;
      waiting = std::move(later);
    }
    return false;
  }

  bool take_if_better(std::optional<Rewritten> changed) {
    if (!changed || !remove_dead_code(changed->graph, options_, diags_)) return false;
    if (transpose_cost(changed->graph) >= transpose_cost(graph_)) return false;
    graph_ = std::move(changed->graph);
    return true;
  }

  bool ended() const { return work_ > options_.transpose_work; }

 private:
  // From every root, with each order that it is read in.
  Candidates find(const Layout& layout) {
    Candidates out;
    std::set<std::pair<TensorId, Order>> tried;
    std::vector<std::pair<TensorId, Order>> reached;
    for (size_t i = 0; i < graph_.tensors.size(); ++i) {
      TensorId root{static_cast<int32_t>(i)};
      if (layout.others(root).empty() || graph_.is_constant(root)) continue;
      std::vector<Order> orders = {layout.order(root)};
      for (TensorId other : layout.others(root)) orders.push_back(layout.order(other));
      for (const Order& order : orders) {
        if (tried.contains({root, ops::order_without_ones(order, graph_[root].type.shape)})) continue;
        if (ended()) return out;
        reached.clear();
        Candidate found{choose_work_orders(layout, root, order, reached), {}};
        work_ += static_cast<int64_t>(reached.size());
        tried.insert(reached.begin(), reached.end());
        if (found.works.empty()) continue;
        for (const auto& [id, wanted] : reached) found.roots.insert(id);
        out.push_back(std::move(found));
      }
    }
    return out;
  }

  static WorkOrders joined(const Candidates& candidates) {
    WorkOrders out;
    for (const Candidate& c : candidates) out.insert(c.works.begin(), c.works.end());
    return out;
  }

  // Takes those that save transposes.
  bool take_better(const Layout& layout, Candidates& wave) {
    std::optional<Rewritten> changed = with_work_orders(layout, joined(wave));
    if (!changed) {
      if (wave.size() <= 1) return false;
      Candidates half(std::make_move_iterator(wave.begin() + static_cast<std::ptrdiff_t>(wave.size() / 2)),
                      std::make_move_iterator(wave.end()));
      wave.resize(wave.size() / 2);
      return take_better(layout, wave) || take_better(layout, half);
    }
    if (wave.size() == 1) return take_if_better(std::move(changed));
    if (!remove_dead_code(changed->graph, options_, diags_)) return false;
    const std::map<TensorId, TransposeCost> before = costs_before(layout), after = costs_after(*changed);
    auto sum = [](const std::map<TensorId, TransposeCost>& costs, const std::set<TensorId>& roots) {
      TransposeCost all{0, 0, 0};
      for (TensorId id : roots) {
        const auto found = costs.find(id);
        if (found == costs.end()) continue;
        const auto& [elements, bytes, count] = found->second;
        all = {std::get<0>(all) + elements, std::get<1>(all) + bytes, std::get<2>(all) + count};
      }
      return all;
    };
    const size_t all = wave.size();
    std::erase_if(wave, [&](const Candidate& c) { return sum(after, c.roots) >= sum(before, c.roots); });
    if (wave.empty()) return false;
    return take_if_better(wave.size() == all ? std::move(changed) : with_work_orders(layout, joined(wave)));
  }

  // The cost of the transposes of each root.
  std::map<TensorId, TransposeCost> costs_before(const Layout& layout) const {
    std::map<TensorId, TransposeCost> out;
    for (size_t i = 0; i < graph_.ops.size(); ++i)
      if (layout.is_order(i))
        add_transpose_cost(graph_, graph_.ops[i], out.try_emplace(layout.root(graph_.ops[i].results[0])).first->second);
    return out;
  }

  static std::map<TensorId, TransposeCost> costs_after(const Rewritten& changed) {
    std::map<TensorId, TransposeCost> out;
    for (const graph::Op& op : changed.graph.ops)
      if (const auto found = changed.roots.find(op.results.empty() ? TensorId{} : op.results[0]);
          found != changed.roots.end())
        add_transpose_cost(changed.graph, op, out.try_emplace(found->second).first->second);
    return out;
  }

  Graph& graph_;
  const PassOptions& options_;
  Diagnostics& diags_;
  int64_t work_ = 0;
};

}  // namespace

Status move_transposes(Graph& graph, const PassOptions& options, Diagnostics& diags) {
  if (transpose_cost(graph) == TransposeCost{}) return success();
  Search search(graph, options, diags);
  bool changed = false;
  {
    // Transposes of transposes, several alike, and those of constants.
    const Layout layout(graph);
    if (!layout.has_orders()) return success();
    changed = search.take_if_better(with_work_orders(layout, {}));
  }
  while (search.improve()) changed = true;
  if (search.ended()) {
    Location where;
    where.file = graph.source_file;
    diags.warning(where, "transposes-left", "the search for unnecessary transposes reached its limit")
        .help("the C is correct, but may have unnecessary transposes; export the model with fewer transposes");
  }
  return changed ? remove_identities(graph, options, diags) : success();
}

}  // namespace aotc::passes
