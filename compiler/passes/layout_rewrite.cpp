// SPDX-License-Identifier: Apache-2.0
// A graph whose operators work in other orders (passes/layout.h). Roots exist in versions: as their
// operator makes them, and as they are read. A version takes the name of the tensor that the model
// has for it, if there is one.
#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ops/common/movement.h"
#include "passes/layout.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace aotc::passes {

using graph::Graph;
using graph::Op;
using graph::Shape;
using graph::Tensor;
using graph::TensorId;
using ops::Order;

namespace {

// A tensor that holds a root's elements: as if the root had been transposed by `order`, then
// reshaped.
struct Version {
  Order order;
  Shape shape;
  TensorId id;
};

class LayoutRewriter {
 public:
  LayoutRewriter(const Layout& layout, const WorkOrders& works)
      : layout_(layout), works_(works), from_(layout.graph()), graph_(layout.graph()) {
    graph_.ops.clear();
    defined_.assign(from_.tensors.size(), false);
    for (size_t i = 0; i < from_.tensors.size(); ++i) {
      TensorId id{static_cast<int32_t>(i)};
      if (layout_.definer(id) < 0) add_version(id, ops::identity_order(shape_of(id).size()), id);
    }
  }

  std::optional<Rewritten> run() {
    for (size_t i = 0; i < from_.ops.size(); ++i) {
      if (layout_.is_order(i)) continue;
      if (!rewrite(i)) return std::nullopt;
    }
    for (graph::Port& port : graph_.outputs) port.tensor = shown(port.tensor);
    for (graph::State& state : graph_.states) state.after = shown(state.after);
    if (failed_) return std::nullopt;
    return Rewritten{std::move(graph_), std::move(transposed_)};
  }

 private:
  const Shape& shape_of(TensorId id) const { return from_[id].type.shape; }

  void add_version(TensorId root, Order order, TensorId id) {
    if (static_cast<size_t>(id.value) < defined_.size()) defined_[static_cast<size_t>(id.value)] = true;
    versions_[root].push_back({std::move(order), graph_[id].type.shape, id});
  }

  bool same(TensorId root, const Order& a, const Order& b) const {
    return ops::order_without_ones(a, shape_of(root)) == ops::order_without_ones(b, shape_of(root));
  }

  const WorkOrder* work_of(size_t index) const {
    const auto found = works_.find(index);
    return found == works_.end() ? nullptr : &found->second;
  }

  bool rewrite(size_t index) {
    const WorkOrder* work = work_of(index);
    Op op = from_.ops[index];
    for (size_t k = 0; k < op.operands.size(); ++k)
      if (op.operands[k].valid()) op.operands[k] = operand(index, k);
    if (work && !work->moves_columns) {
      op.attributes = ops::attributes_for_axes({from_, from_.ops[index]}, work->order);
      for (size_t j = 0; j < op.results.size(); ++j) op.results[j] = result(index, j);
    } else {
      for (TensorId id : op.results) add_version(id, ops::identity_order(shape_of(id).size()), id);
    }
    if (work && work->moves_columns) move_columns(index, op);
    graph_.ops.push_back(std::move(op));
    const Op& made = graph_.ops.back();
    // What nothing was done to has been accepted before.
    return made.operands == from_.ops[index].operands && !work ? true : is_valid(graph_, made);
  }

  TensorId operand(size_t index, size_t k) {
    const Op& op = from_.ops[index];
    TensorId id = op.operands[k];
    if (k == 1 && columns_.contains(index)) return permuted_columns(id, columns_.at(index));
    const WorkOrder* work = work_of(index);
    if (!work) return in_order(id, ops::identity_order(shape_of(id).size()), shape_of(id));
    Order order = layout_.operand_order(index, *work, k);
    Shape shape = ops::ordered_shape(shape_of(id), order);
    const auto& flow = layout_.flow(index);
    if (!work->moves_columns && flow->broadcasts && !flow->operands[k].empty())
      shape = with_ones(*flow, flow->operands[k], work->order, shape);
    return in_order(id, order, shape);
  }

  // A broadcast operand with a dimension of size 1 for each axis that it lacks, behind its first
  // one.
  static Shape with_ones(const ops::AxisFlow& flow, const std::vector<int>& dims, const Order& axes,
                         const Shape& shape) {
    Shape out;
    size_t at = 0;
    for (int i = 0; i < flow.axes; ++i) {
      bool has = std::find(dims.begin(), dims.end(), axes[static_cast<size_t>(i)]) != dims.end();
      if (has) {
        out.push_back(shape[at++]);
      } else if (at > 0) {
        out.push_back(1);
      }
    }
    return out;
  }

  // What operator `index` writes its result to.
  TensorId result(size_t index, size_t j) {
    TensorId root = from_.ops[index].results[j];
    const std::vector<int>& dims = layout_.flow(index)->results[j];
    Order order =
        dims.empty() ? ops::identity_order(shape_of(root).size()) : ops::dimension_order(dims, work_of(index)->order);
    TensorId id = named(root, order);
    add_version(root, order, id);
    return id;
  }

  // The model's tensor that is `root` in exactly that order, one that is kept before others; or a
  // new one.
  TensorId named(TensorId root, const Order& order) {
    std::optional<TensorId> found;
    for (TensorId other : layout_.others(root)) {
      if (defined_[static_cast<size_t>(other.value)] || layout_.order(other) != order) continue;
      if (!found || (layout_.is_kept(other) && !layout_.is_kept(*found))) found = other;
    }
    if (found) return *found;
    if (std::is_sorted(order.begin(), order.end()) && !defined_[static_cast<size_t>(root.value)]) return root;
    Tensor made = from_[root];
    made.constant.reset();
    made.type.shape = ops::ordered_shape(shape_of(root), order);
    made.name += fmt::format("{}{})", kOtherOrder, fmt::join(order, ","));
    return graph_.add_tensor(std::move(made));
  }

  // `id` of the model in another order, under a shape.
  TensorId in_order(TensorId id, const Order& order, const Shape& shape) {
    TensorId root = layout_.root(id);
    Order wanted = ops::compose_orders(layout_.order(id), order);
    std::vector<Version>& versions = versions_[root];
    const Version* alike = nullptr;
    for (const Version& v : versions) {
      if (!same(root, v.order, wanted)) continue;
      if (v.shape == shape) return v.id;
      if (alike == nullptr) alike = &v;
    }
    if (alike == nullptr) return reshaped(root, transposed(root, wanted), wanted, shape);
    return reshaped(root, alike->id, wanted, shape);
  }

  TensorId transposed(TensorId root, const Order& wanted) {
    const Version& base = versions_.at(root).front();
    if (graph_.is_constant(base.id)) return transposed_constant(root, wanted);
    TensorId id = named(root, wanted);
    define_transposed(root, wanted, id);
    return id;
  }

  void define_transposed(TensorId root, const Order& wanted, TensorId id) {
    const Version& base = versions_.at(root).front();
    Order order = ops::compose_orders(ops::inverse_order(base.order), wanted);
    define(root, base.id, "transpose", "order", {order.begin(), order.end()}, id);
    transposed_[id] = root;
    add_version(root, wanted, id);
  }

  TensorId reshaped(TensorId root, TensorId id, const Order& order, const Shape& shape) {
    if (graph_[id].type.shape == shape) return id;
    Tensor made = graph_[id];
    made.type.shape = shape;
    TensorId to = graph_.add_tensor(std::move(made));
    // A constant's bytes are the same ones.
    if (!graph_.is_constant(to)) define(root, id, "reshape", "shape", shape, to);
    versions_[root].push_back({order, shape, to});
    return to;
  }

  void define(TensorId root, TensorId operand, const char* name, const char* attribute,
              const std::vector<int64_t>& value, TensorId result) {
    Op op;
    op.definition = ops::operators().find(name);
    std::shared_ptr<graph::AttributesBase> attributes = op.definition->default_attributes();
    attributes->parse(attribute, graph::attribute_text::print(value));
    op.attributes = std::move(attributes);
    op.operands = {operand};
    op.results = {result};
    op.location = location_for(root, result);
    failed_ = failed_ || !is_valid(graph_, op);
    graph_.ops.push_back(std::move(op));
  }

  // Of the operator that defines it in the model, if that is a transpose; else none of the file's.
  Location location_for(TensorId root, TensorId result) const {
    auto definer_of = [&](TensorId id) {
      bool in_model = static_cast<size_t>(id.value) < from_.tensors.size();
      return in_model ? layout_.definer(id) : -1;
    };
    int definer = definer_of(result);
    if (definer >= 0 && layout_.is_order(static_cast<size_t>(definer)))
      return from_.ops[static_cast<size_t>(definer)].location;
    Location where = from_.location_of(root);
    where.op_index = -1;
    where.op_type = "TRANSPOSE";
    where.tensor = from_[root].name;
    return where;
  }

  TensorId transposed_constant(TensorId root, const Order& wanted) {
    const Tensor& from = from_[root];
    graph::TensorType type = from.type;
    type.shape = ops::ordered_shape(from.type.shape, wanted);
    std::vector<int64_t> strides = ops::strides_of(from.type.shape);
    ops::Movement move{type.shape, ops::strides_of(type.shape), ops::ordered_shape(strides, wanted)};
    std::vector<uint8_t> bytes(static_cast<size_t>(type.bytes()));
    ops::run_movement(move, from.constant->bytes, bytes, size_of(type.dtype));
    TensorId id = graph_.add_constant(from.name, std::move(type), std::move(bytes));
    versions_[root].push_back({wanted, graph_[id].type.shape, id});
    return id;
  }

  // --- Rows whose order is free

  // Operand 0 of op has its dimensions in another order: so have the columns of the weights that
  // meet them.
  void move_columns(size_t index, Op& op) {
    const Shape& shape = shape_of(from_.ops[index].operands[0]);
    int64_t row = layout_.row(index);
    Columns columns{{}, *row_order(shape, row, work_of(index)->order)};
    columns.shape.assign(shape.end() - static_cast<std::ptrdiff_t>(columns.order.size()), shape.end());
    if (!ops::definition_of(op).traits().view) {
      op.operands[1] = permuted_columns(op.operands[1], columns);
      return;
    }
    for (const RootReader& reader : layout_.readers(op.results[0]))
      columns_.emplace(static_cast<size_t>(reader.op), columns);
    // The name is that of other elements now.
    graph_[op.results[0]].name += fmt::format("{}{})", kOtherOrder, fmt::join(work_of(index)->order, ","));
  }

  struct Columns {
    Shape shape;
    Order order;
  };

  TensorId permuted_columns(TensorId weights, const Columns& columns) {
    const Tensor& from = from_[weights];
    Shape to = ops::ordered_shape(columns.shape, columns.order);
    ops::Movement move{to, ops::strides_of(to), ops::ordered_shape(ops::strides_of(columns.shape), columns.order)};
    int64_t row = from.type.shape[1];
    move.extents.insert(move.extents.begin(), from.type.shape[0]);
    move.to_strides.insert(move.to_strides.begin(), row);
    move.from_strides.insert(move.from_strides.begin(), row);
    std::vector<uint8_t> bytes(static_cast<size_t>(from.type.bytes()));
    ops::run_movement(move, from.constant->bytes, bytes, size_of(from.type.dtype));
    return graph_.add_constant(from.name, from.type, std::move(bytes));
  }

  // --- What is needed behind the last operator

  TensorId shown(TensorId id) {
    if (defined_[static_cast<size_t>(id.value)]) return id;
    TensorId root = layout_.root(id);
    const Order& order = layout_.order(id);
    const Version* alike = nullptr;
    for (const Version& v : versions_.at(root)) {
      if (!same(root, v.order, order)) continue;
      alike = &v;
      // The caller's buffers are distinct.
      bool own = !graph_.is_given(v.id) && !graph_.is_constant(v.id) && !graph_.is_kept(v.id);
      if (own && v.shape == shape_of(id)) return v.id;
    }
    if (alike == nullptr) {
      define_transposed(root, order, id);
    } else {
      const Shape& shape = shape_of(id);
      define(root, alike->id, "reshape", "shape", shape, id);
      add_version(root, order, id);
    }
    return id;
  }

  const Layout& layout_;
  const WorkOrders& works_;
  const Graph& from_;
  Graph graph_;
  std::vector<bool> defined_;                          // by tensor of the model
  std::map<TensorId, std::vector<Version>> versions_;  // by root; as it is made comes first
  std::map<size_t, Columns> columns_;                  // by operator, how the columns of its weights stand
  std::map<TensorId, TensorId> transposed_;            // roots of transposes that were made
  bool failed_ = false;
};

}  // namespace

std::optional<Rewritten> with_work_orders(const Layout& layout, const WorkOrders& works) {
  return LayoutRewriter(layout, works).run();
}

}  // namespace aotc::passes
