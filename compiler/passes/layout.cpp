// SPDX-License-Identifier: Apache-2.0
#include "passes/layout.h"

#include <algorithm>

#include "ops/constants.h"
#include "passes/rewrite.h"

namespace aotc::passes {

using graph::Graph;
using graph::Op;
using graph::TensorId;
using ops::Order;

namespace {

std::optional<Order> transposition(const Graph& graph, const Op& op) {
  if (!is_unary(op)) return std::nullopt;
  const auto* transposable = ops::definition_of(op).as<ops::Transposable>();
  return transposable != nullptr ? transposable->as_transposition({graph, op}) : std::nullopt;
}

bool has_quantized_axis(const Graph& graph, TensorId id) { return graph[id].type.quantization.per_channel(); }

}  // namespace

void add_transpose_cost(const Graph& graph, const Op& op, TransposeCost& cost) {
  auto order = transposition(graph, op);
  if (!order) return;
  const graph::TensorType& type = graph[op.operands[0]].type;
  Order moved = ops::order_without_ones(*order, type.shape);
  if (std::is_sorted(moved.begin(), moved.end())) return;
  auto& [elements, bytes, count] = cost;
  elements += type.elements();
  bytes += type.bytes();
  ++count;
}

TransposeCost transpose_cost(const Graph& graph) {
  TransposeCost cost{0, 0, 0};
  for (const Op& op : graph.ops) add_transpose_cost(graph, op, cost);
  return cost;
}

std::optional<Order> row_order(const graph::Shape& shape, int64_t row, const Order& order) {
  size_t first = shape.size();
  int64_t elements = 1;
  while (first > 0 && elements < row) elements *= shape[--first];
  if (elements != row) return std::nullopt;
  Order leading, last;
  for (int i : order) {
    bool in_row = static_cast<size_t>(i) >= first;
    if (!in_row && !last.empty() && shape[static_cast<size_t>(i)] != 1) return std::nullopt;
    if (in_row) {
      // Dimensions of size 1 may be anywhere.
      if (shape[static_cast<size_t>(i)] != 1) last.push_back(i - static_cast<int>(first));
    } else if (shape[static_cast<size_t>(i)] != 1) {
      leading.push_back(i);
    }
  }
  for (size_t i = first; i < shape.size(); ++i)
    if (shape[i] == 1) last.push_back(static_cast<int>(i - first));
  if (!std::is_sorted(leading.begin(), leading.end())) return std::nullopt;
  return last;
}

Layout::Layout(const Graph& graph) : graph_(graph), chains_(graph::compute_use_def(graph)) {
  find_roots();
  find_readers();
  rows_.assign(graph.ops.size(), 0);
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    const Op& op = graph.ops[i];
    flows_.push_back(is_order_[i] ? std::nullopt : checked_flow(op));
    rows_[i] = free_row(op);
  }
  // A view hands the freedom on if all of its readers have it.
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    const Op& op = graph.ops[i];
    if (!ops::definition_of(op).traits().view || op.device != 0 || !is_unary(op) || is_kept_[at(op.results[0])])
      continue;
    const std::vector<int>& users = chains_.users[at(op.results[0])];
    int64_t row = users.empty() ? 0 : rows_[static_cast<size_t>(users[0])];
    for (int user : users) {
      const Op& reader = graph.ops[static_cast<size_t>(user)];
      bool first_only = std::count(reader.operands.begin(), reader.operands.end(), op.results[0]) == 1 &&
                        reader.operands[0] == op.results[0];
      bool direct = ops::permutable_reduction({graph, reader}) == row;
      if (!first_only || !direct || rows_[static_cast<size_t>(user)] != row) row = 0;
    }
    rows_[i] = row;
  }
}

// May the transpose of a constant be done now? It must not make the program larger.
bool Layout::folds(const Op& op) const {
  TensorId from = op.operands[0];
  if (is_kept_[at(op.results[0])]) return false;
  return chains_.users[at(from)].size() == 1 || graph_[from].type.bytes() <= ops::kMostGrowth;
}

void Layout::find_roots() {
  size_t count = graph_.tensors.size();
  is_kept_.assign(count, false);
  for (const graph::Port& port : graph_.outputs) is_kept_[at(port.tensor)] = true;
  for (const graph::State& state : graph_.states) is_kept_[at(state.after)] = true;
  is_order_.assign(graph_.ops.size(), false);
  for (size_t i = 0; i < count; ++i) {
    root_.push_back(TensorId{static_cast<int32_t>(i)});
    order_.push_back(ops::identity_order(graph_.tensors[i].type.shape.size()));
  }
  others_.resize(count);
  for (size_t i = 0; i < graph_.ops.size(); ++i) {
    const Op& op = graph_.ops[i];
    auto order = op.device == 0 ? transposition(graph_, op) : std::nullopt;
    if (!order) continue;
    TensorId from = op.operands[0], to = op.results[0];
    if (graph_[from].device != 0 || graph_[to].device != 0) continue;
    if (graph_.is_constant(root_[at(from)]) && !folds(op)) continue;
    is_order_[i] = has_orders_ = true;
    root_[at(to)] = root_[at(from)];
    order_[at(to)] = ops::compose_orders(order_[at(from)], *order);
    others_[at(root_[at(to)])].push_back(to);
  }
}

void Layout::find_readers() {
  readers_.resize(graph_.tensors.size());
  for (size_t i = 0; i < graph_.ops.size(); ++i) {
    const Op& op = graph_.ops[i];
    if (is_order_[i]) continue;
    for (size_t k = 0; k < op.operands.size(); ++k)
      if (op.operands[k].valid())
        readers_[at(root(op.operands[k]))].push_back({static_cast<int>(i), k, op.operands[k]});
  }
  for (size_t i = 0; i < graph_.tensors.size(); ++i) {
    TensorId id{static_cast<int32_t>(i)};
    if (is_kept_[i]) readers_[at(root(id))].push_back({-1, 0, id});
  }
}

std::optional<ops::AxisFlow> Layout::checked_flow(const Op& op) const {
  if (op.device != 0 || !op.regions.empty() || op.operands.empty()) return std::nullopt;
  auto flow = ops::axis_flow({graph_, op});
  if (!flow || flow->operands.size() != op.operands.size() || flow->results.size() != op.results.size())
    return std::nullopt;
  auto fits = [&](TensorId id, const std::vector<int>& dims) {
    if (dims.empty()) return true;
    return id.valid() && dims.size() == graph_[id].type.shape.size() && !has_quantized_axis(graph_, id) &&
           graph_[id].device == 0;
  };
  for (size_t k = 0; k < op.operands.size(); ++k)
    if (!fits(op.operands[k], flow->operands[k])) return std::nullopt;
  for (size_t j = 0; j < op.results.size(); ++j)
    if (!fits(op.results[j], flow->results[j])) return std::nullopt;
  return flow;
}

int64_t Layout::free_row(const Op& op) const {
  if (op.device != 0 || op.operands.size() < 2 || !graph_.is_constant(op.operands[1])) return 0;
  // Weights that others read as well would be there twice.
  if (chains_.users[at(op.operands[1])].size() != 1 || is_kept_[at(op.operands[1])]) return 0;
  const graph::Shape& weights = graph_[op.operands[1]].type.shape;
  int64_t row = ops::permutable_reduction({graph_, op});
  return weights.size() == 2 && weights[1] == row ? row : 0;
}

std::optional<WorkOrder> Layout::work_order(size_t index, const std::vector<int>& dims, TensorId tensor,
                                            const Order& order) const {
  const Op& op = graph_.ops[index];
  const graph::Shape& shape = graph_[tensor].type.shape;
  if (!dims.empty()) {
    auto axes = ops::axis_order(*flows_[index], dims, shape, order);
    if (axes && ops::attributes_for_axes({graph_, op}, *axes) != nullptr) return WorkOrder{*axes};
  }
  if (rows_[index] == 0 || tensor != op.operands[0] || !row_order(shape, rows_[index], order)) return std::nullopt;
  return WorkOrder{order, true};
}

Order Layout::operand_order(size_t index, const WorkOrder& work, size_t operand) const {
  TensorId id = graph_.ops[index].operands[operand];
  if (work.moves_columns && operand == 0) return work.order;
  if (work.moves_columns || flows_[index]->operands[operand].empty())
    return ops::identity_order(graph_[id].type.shape.size());
  return ops::dimension_order(flows_[index]->operands[operand], work.order);
}

bool Layout::has_orders_of(TensorId id) const {
  const graph::Shape& shape = graph_[id].type.shape;
  return std::count_if(shape.begin(), shape.end(), [](int64_t d) { return d != 1; }) > 1;
}

}  // namespace aotc::passes
