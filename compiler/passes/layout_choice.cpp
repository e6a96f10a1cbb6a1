// SPDX-License-Identifier: Apache-2.0
// Which operators work in another order (passes/layout.h). From one root in one order follows an
// order for all that is connected with it through operators that may work in several; what of that
// is done is a minimum cut: a root that is stored in one order and read in another costs its
// transpose, once for each order.
#include <algorithm>
#include <map>
#include <set>

#include "passes/layout.h"
#include "passes/min_cut.h"

namespace aotc::passes {

using graph::Graph;
using graph::Op;
using graph::TensorId;
using ops::Order;

namespace {

// Larger tensors are taken for tensors of so many, so that sums of costs stay in 64 bits.
constexpr int64_t kMostCounted = int64_t{1} << 32;

class Choice {
 public:
  explicit Choice(const Layout& layout) : layout_(layout), graph_(layout.graph()) {}

  void spread(TensorId root, const Order& order) {
    wanted_[root] = order;
    queue_.push_back(root);
    while (!queue_.empty()) {
      TensorId next = queue_.back();
      queue_.pop_back();
      spread_from(next, wanted_.at(next));
    }
  }

  WorkOrders choose() {
    for (const auto& [op, work] : works_) variables_[op] = cut_.add_variable();
    for (const auto& [root, order] : wanted_) add_costs(root, order);
    std::vector<bool> one = cut_.solve();
    std::erase_if(works_, [&](const auto& entry) { return !one[static_cast<size_t>(variables_.at(entry.first))]; });
    return std::move(works_);
  }

  const std::map<TensorId, Order>& wanted() const { return wanted_; }

 private:
  Order counted(TensorId root, const Order& order) const {
    return ops::order_without_ones(order, graph_[root].type.shape);
  }

  // Everything that stands at `root` may work so that the root has `order`.
  void spread_from(TensorId root, const Order& order) {
    if (int definer = layout_.definer(root); definer >= 0) {
      const Op& op = graph_.ops[static_cast<size_t>(definer)];
      for (size_t j = 0; j < op.results.size(); ++j)
        if (op.results[j] == root && layout_.flow(static_cast<size_t>(definer)))
          reach(static_cast<size_t>(definer), layout_.flow(static_cast<size_t>(definer))->results[j], root, order);
    }
    for (const RootReader& reader : layout_.readers(root)) {
      if (reader.op < 0) continue;
      auto op = static_cast<size_t>(reader.op);
      Order seen = ops::compose_orders(ops::inverse_order(layout_.order(reader.tensor)), order);
      const auto& flow = layout_.flow(op);
      reach(op, flow ? flow->operands[reader.operand] : std::vector<int>{}, reader.tensor, seen);
    }
  }

  // `tensor` of op has `order`: so op works in some order, and that gives one to its other tensors.
  void reach(size_t op, const std::vector<int>& dims, TensorId tensor, const Order& order) {
    if (excluded_.contains(op) || works_.contains(op)) return;
    auto work = layout_.work_order(op, dims, tensor, order);
    if (!work) return;
    std::vector<std::pair<TensorId, Order>> orders = orders_at(op, *work);
    for (const auto& [root, wanted] : orders) {
      auto known = wanted_.find(root);
      if (known != wanted_.end() && counted(root, known->second) != counted(root, wanted)) {
        excluded_.insert(op);
        return;
      }
    }
    // Two operands of one operator may be one root in different orders.
    for (const auto& [root, wanted] : orders)
      for (const auto& [other, order_of_other] : orders)
        if (root == other && counted(root, wanted) != counted(root, order_of_other)) {
          excluded_.insert(op);
          return;
        }
    works_.emplace(op, std::move(*work));
    for (auto& [root, wanted] : orders)
      if (wanted_.try_emplace(root, std::move(wanted)).second) queue_.push_back(root);
  }

  // The orders of the roots at an operator that works like that, those that mean something.
  std::vector<std::pair<TensorId, Order>> orders_at(size_t index, const WorkOrder& work) const {
    const Op& op = graph_.ops[index];
    std::vector<std::pair<TensorId, Order>> out;
    auto add = [&](TensorId id, const Order& order) {
      TensorId root = layout_.root(id);
      if (graph_.is_constant(root) || !layout_.has_orders_of(id)) return;
      out.emplace_back(root, ops::compose_orders(layout_.order(id), order));
    };
    if (work.moves_columns) {
      add(op.operands[0], work.order);
      return out;
    }
    const ops::AxisFlow& flow = *layout_.flow(index);
    for (size_t k = 0; k < op.operands.size(); ++k)
      if (!flow.operands[k].empty()) add(op.operands[k], ops::dimension_order(flow.operands[k], work.order));
    for (size_t j = 0; j < op.results.size(); ++j)
      if (!flow.results[j].empty()) add(op.results[j], ops::dimension_order(flow.results[j], work.order));
    return out;
  }

  // The variable of a reader, if the order that it reads in depends on it.
  int variable_of(const RootReader& reader) const {
    if (reader.op < 0) return MinCut::kZero;
    const auto found = works_.find(static_cast<size_t>(reader.op));
    if (found == works_.end()) return MinCut::kZero;
    const WorkOrder& work = found->second;
    bool moves = work.moves_columns ? reader.operand == 0
                                    : !layout_.flow(static_cast<size_t>(reader.op))->operands[reader.operand].empty();
    return moves ? variables_.at(found->first) : MinCut::kZero;
  }

  // Variables are 1 where an operator works in its new order. A root costs for each order in which
  // it is read and not made.
  void add_costs(TensorId root, const Order& order) {
    const graph::TensorType& type = graph_[root].type;
    const int64_t cost = std::min(type.elements(), kMostCounted) * 1024 + std::min(type.bytes(), kMostCounted) + 1;
    int definer = layout_.definer(root);
    const auto own = definer < 0 ? variables_.end() : variables_.find(static_cast<size_t>(definer));
    const int made = own == variables_.end() ? MinCut::kZero : own->second;
    const Order old = counted(root, ops::identity_order(type.shape.size())), wanted = counted(root, order);
    std::map<Order, std::vector<int>> as_before;  // by order: who reads it there with 0
    std::vector<int> readers;
    for (const RootReader& reader : layout_.readers(root)) {
      as_before[counted(root, layout_.order(reader.tensor))].push_back(variable_of(reader));
      readers.push_back(variable_of(reader));
    }
    if (wanted != old) {
      // Made as before, and read in the new order by one at least.
      int any = cut_.add_variable();
      cut_.add_cost(made, any, cost);
      if (as_before.contains(wanted)) cut_.add_cost(any, MinCut::kOne, MinCut::kNever / 2);
      for (int reader : readers) cut_.add_cost(any, reader, MinCut::kNever / 2);
    }
    for (const auto& [seen, variables] : as_before) {
      if (seen == wanted) continue;
      int all = cut_.add_variable();  // 0 if one of them is
      for (int variable : variables) cut_.add_cost(variable, all, MinCut::kNever / 2);
      // Where it is made in that order now, it costs once it is made in the new one.
      cut_.add_cost(all, seen == old ? made : MinCut::kOne, cost);
    }
  }

  const Layout& layout_;
  const Graph& graph_;
  // Maps by operator, because a search is to cost what it reaches and not what the graph has.
  WorkOrders works_;
  std::set<size_t> excluded_;
  std::map<TensorId, Order> wanted_;  // by root
  std::vector<TensorId> queue_;
  MinCut cut_;
  std::map<size_t, int> variables_;  // by operator
};

}  // namespace

WorkOrders choose_work_orders(const Layout& layout, TensorId root, const Order& order,
                              std::vector<std::pair<TensorId, Order>>& reached) {
  Choice choice(layout);
  choice.spread(root, order);
  for (const auto& [id, wanted] : choice.wanted())
    reached.emplace_back(id, ops::order_without_ones(wanted, layout.graph()[id].type.shape));
  return choice.choose();
}

}  // namespace aotc::passes
