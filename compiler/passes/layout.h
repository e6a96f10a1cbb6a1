// SPDX-License-Identifier: Apache-2.0
// Layout: the model of the pass move-transposes. Transposes are not operators but orders in which one tensor, the root,
// is read. Every order is relative to the root; a choice states which operators work on their axes in another order,
// and the necessary transposes follow from it.
#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "ops/axes.h"
#include "ops/operator.h"
#include "passes/pass.h"

namespace aotc::passes {

// How an operator works: on its axes in this order; or it reads operand 0, rows that are multiplied and summed with
// constant weights, in this order of dimensions, and the weights' columns are permuted instead.
struct WorkOrder {
  ops::Order order;
  bool moves_columns = false;
};
using WorkOrders = std::map<size_t, WorkOrder>;  // by operator; missing ones are unchanged

struct RootReader {
  int op;  // -1: an output port or a state
  size_t operand;
  graph::TensorId tensor;  // the root in some order
};

class Layout {
 public:
  explicit Layout(const graph::Graph& graph);

  const graph::Graph& graph() const { return graph_; }
  // True for a transpose that is represented as an order.
  bool is_order(size_t op) const { return is_order_[op]; }
  graph::TensorId root(graph::TensorId id) const { return root_[at(id)]; }
  const ops::Order& order(graph::TensorId id) const { return order_[at(id)]; }
  int definer(graph::TensorId id) const { return chains_.definer[at(id)]; }
  const std::vector<RootReader>& readers(graph::TensorId root) const { return readers_[at(root)]; }
  // Tensors that are the root in another order, as transposes of the graph define them.
  const std::vector<graph::TensorId>& others(graph::TensorId root) const { return others_[at(root)]; }
  bool is_kept(graph::TensorId id) const { return is_kept_[at(id)]; }
  bool has_orders() const { return has_orders_; }

  // The axes of an operator that may work in other orders.
  const std::optional<ops::AxisFlow>& flow(size_t op) const { return flows_[op]; }
  // How the operator works if its operand or result `tensor`, whose axes are `dims`, has that order; nullopt if it
  // cannot.
  std::optional<WorkOrder> work_order(size_t op, const std::vector<int>& dims, graph::TensorId tensor,
                                      const ops::Order& order) const;
  // Number of elements of a row whose order is free, at a reader of operand 0; 0: none.
  int64_t row(size_t op) const { return rows_[op]; }
  // The order of its operand that an operator with this work order needs.
  ops::Order operand_order(size_t op, const WorkOrder& work, size_t operand) const;
  // True if more than one dimension of the tensor has a size other than 1; else every order is the same.
  bool has_orders_of(graph::TensorId id) const;

 private:
  static size_t at(graph::TensorId id) { return static_cast<size_t>(id.value); }
  void find_roots();
  void find_readers();
  std::optional<ops::AxisFlow> checked_flow(const graph::Op& op) const;
  int64_t free_row(const graph::Op& op) const;
  bool folds(const graph::Op& op) const;

  const graph::Graph& graph_;
  graph::UseDef chains_;
  std::vector<bool> is_order_, is_kept_;
  std::vector<graph::TensorId> root_;
  std::vector<ops::Order> order_;
  std::vector<std::vector<RootReader>> readers_;
  std::vector<std::vector<graph::TensorId>> others_;
  std::vector<std::optional<ops::AxisFlow>> flows_;
  std::vector<int64_t> rows_;
  bool has_orders_ = false;
};

// The order of the last dimensions, of `row` elements, if those before them are not moved.
std::optional<ops::Order> row_order(const graph::Shape& shape, int64_t row, const ops::Order& order);

// The cost of the transposes of a graph: elements, bytes and number of transposes. Transposes that only move
// dimensions of size 1 do not count.
using TransposeCost = std::tuple<int64_t, int64_t, int64_t>;
TransposeCost transpose_cost(const graph::Graph& graph);
// Adds the cost of one operator.
void add_transpose_cost(const graph::Graph& graph, const graph::Op& op, TransposeCost& cost);

// The operators that work in another order if a root is stored in `order`, chosen to minimise transposes; all roots and
// orders that the search reached are added to `reached`.
WorkOrders choose_work_orders(const Layout& layout, graph::TensorId root, const ops::Order& order,
                              std::vector<std::pair<graph::TensorId, ops::Order>>& reached);

// The graph with those work orders and the transposes that they need.
struct Rewritten {
  graph::Graph graph;
  std::map<graph::TensorId, graph::TensorId> roots;  // of results of transposes
};
// nullopt if an operator does not accept it.
std::optional<Rewritten> with_work_orders(const Layout& layout, const WorkOrders& works);

}  // namespace aotc::passes
