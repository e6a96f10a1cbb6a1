// SPDX-License-Identifier: Apache-2.0
// Layout: the data structure of the pass move-transposes. It treats the result of a transpose not as a tensor of its
// own, but as an order of dimensions in which another tensor, the root, is read. The pass chooses in which order of
// axes each operator works (its work order); the necessary transposes follow from that choice.
#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "ops/axes.h"
#include "ops/operator.h"
#include "passes/pass.h"

namespace aotc::passes {

// Describes how an operator works if its operands or results are stored in another order. If `moves_columns` is false,
// `order` is the order of the operator's axes. Otherwise the operator multiplies rows of operand 0 by constant weights,
// and `order` is the order of the dimensions of operand 0. The pass then permutes the columns of the weights to match.
struct WorkOrder {
  ops::Order order;
  bool moves_columns = false;
};
using WorkOrders = std::map<size_t, WorkOrder>;  // by operator; operators that are not listed work as before

struct RootReader {
  int op;  // index of the operator; -1: an output port or a state reads the tensor
  size_t operand;
  graph::TensorId tensor;  // the root in some order
};

class Layout {
 public:
  explicit Layout(const graph::Graph& graph);

  const graph::Graph& graph() const { return graph_; }
  // True if the operator is a transpose that is represented as an order of its root.
  bool is_order(size_t op) const { return is_order_[op]; }
  graph::TensorId root(graph::TensorId id) const { return root_[at(id)]; }
  const ops::Order& order(graph::TensorId id) const { return order_[at(id)]; }
  int definer(graph::TensorId id) const { return chains_.definer[at(id)]; }
  const std::vector<RootReader>& readers(graph::TensorId root) const { return readers_[at(root)]; }
  // Results of the graph's transposes of this root.
  const std::vector<graph::TensorId>& others(graph::TensorId root) const { return others_[at(root)]; }
  bool is_kept(graph::TensorId id) const { return is_kept_[at(id)]; }
  bool has_orders() const { return has_orders_; }

  // The axes of an operator; nullopt if it cannot work in other orders.
  const std::optional<ops::AxisFlow>& flow(size_t op) const { return flows_[op]; }
  // Returns the work order of the operator if `tensor`, its operand or result, is stored in `order`; nullopt if the
  // operator cannot work in that order. `dims`: the operator's axis for each dimension of `tensor`.
  std::optional<WorkOrder> work_order(size_t op, const std::vector<int>& dims, graph::TensorId tensor,
                                      const ops::Order& order) const;
  // Length of the rows of operand 0 whose elements may be permuted, because the operator multiplies them by constant
  // weights and adds the products; 0: none.
  int64_t row(size_t op) const { return rows_[op]; }
  // Returns the order in which the operator needs its operand, for this work order.
  ops::Order operand_order(size_t op, const WorkOrder& work, size_t operand) const;
  // True if at least two dimensions of the tensor have a size other than 1. Otherwise all orders are the same.
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

// Let the last dimensions of `shape` form a row of `row` elements. Returns the order within the row if `order` moves
// only dimensions of the row; else nullopt.
std::optional<ops::Order> row_order(const graph::Shape& shape, int64_t row, const ops::Order& order);

// The cost of the transposes in a graph: moved elements, moved bytes and number of transposes. A transpose that only
// moves dimensions of size 1 costs nothing.
using TransposeCost = std::tuple<int64_t, int64_t, int64_t>;
TransposeCost transpose_cost(const graph::Graph& graph);
// Adds the cost of one operator, which is 0 if it is not a transpose.
void add_transpose_cost(const graph::Graph& graph, const graph::Op& op, TransposeCost& cost);

// Chooses the operators that work in another order if `root` is stored in `order`, so that the cost of transposes is
// minimal. Adds all pairs of root and order that the search reached to `reached`.
WorkOrders choose_work_orders(const Layout& layout, graph::TensorId root, const ops::Order& order,
                              std::vector<std::pair<graph::TensorId, ops::Order>>& reached);

// A graph with given work orders, and the transposes that they need.
struct Rewritten {
  graph::Graph graph;
  std::map<graph::TensorId, graph::TensorId> roots;  // root of each result of a transpose
};
// nullopt if an operator does not accept its new operands.
std::optional<Rewritten> with_work_orders(const Layout& layout, const WorkOrders& works);

}  // namespace aotc::passes
