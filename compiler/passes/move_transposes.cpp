// SPDX-License-Identifier: Apache-2.0
#include "passes/move_transposes.h"

#include <algorithm>
#include <set>

#include "passes/dead_code.h"
#include "passes/layout.h"
#include "passes/remove_identities.h"

namespace aotc::passes {

using graph::Graph;
using graph::TensorId;
using ops::Order;

namespace {

// Operators that all searches together may look at: a few seconds.
constexpr int64_t kMostWork = int64_t{1} << 22;

// Is that graph better? It transposes less: elements first, then bytes, then operators.
bool take_if_better(Graph& graph, std::optional<Graph> changed, const PassOptions& options,
                    Diagnostics& diags) {
  if (!changed || !remove_dead_code(*changed, options, diags)) return false;
  if (transpose_cost(*changed) >= transpose_cost(graph)) return false;
  graph = std::move(*changed);
  return true;
}

// From every root, with each order that it is read in.
bool improve(Graph& graph, const PassOptions& options, Diagnostics& diags, int64_t& work) {
  const Layout layout(graph);
  if (!layout.has_orders()) return false;
  std::set<std::pair<TensorId, Order>> tried;
  std::vector<std::pair<TensorId, Order>> reached;
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    TensorId root{static_cast<int32_t>(i)};
    if (layout.others(root).empty() || graph.is_constant(root)) continue;
    std::vector<Order> orders = {layout.order(root)};
    for (TensorId other : layout.others(root)) orders.push_back(layout.order(other));
    for (const Order& order : orders) {
      if (tried.contains({root, ops::order_without_ones(order, graph[root].type.shape)})) continue;
      work += static_cast<int64_t>(graph.ops.size());
      if (work > kMostWork) return false;
      reached.clear();
      WorkOrders works = choose_work_orders(layout, root, order, reached);
      tried.insert(reached.begin(), reached.end());
      bool any =
          std::any_of(works.begin(), works.end(), [](const auto& w) { return w.has_value(); });
      if (any && take_if_better(graph, with_work_orders(layout, works), options, diags))
        return true;
    }
  }
  return false;
}

}  // namespace

Status move_transposes(Graph& graph, const PassOptions& options, Diagnostics& diags) {
  if (transpose_cost(graph) == TransposeCost{}) return success();
  int64_t work = 0;
  bool changed = false;
  {
    // Transposes of transposes, several alike, and those of constants.
    const Layout layout(graph);
    if (!layout.has_orders()) return success();
    WorkOrders as_they_are(graph.ops.size());
    changed = take_if_better(graph, with_work_orders(layout, as_they_are), options, diags);
  }
  while (improve(graph, options, diags, work)) changed = true;
  return changed ? remove_identities(graph, options, diags) : success();
}

}  // namespace aotc::passes
