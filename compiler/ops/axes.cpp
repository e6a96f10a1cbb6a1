// SPDX-License-Identifier: Apache-2.0
#include "ops/axes.h"

#include <algorithm>
#include <numeric>

namespace aotc::ops {

AxisFlow same_axes(size_t operands, size_t results, size_t axes) {
  Order all = identity_order(axes);
  return {static_cast<int>(axes), std::vector<Order>(operands, all), std::vector<Order>(results, all)};
}

AxisFlow broadcast_axes(const std::vector<graph::Shape>& operands, const graph::Shape& result) {
  AxisFlow flow = same_axes(0, 1, result.size());
  flow.broadcasts = true;
  for (const graph::Shape& shape : operands)
    flow.operands.emplace_back(flow.results[0].end() - static_cast<std::ptrdiff_t>(shape.size()),
                               flow.results[0].end());
  return flow;
}

std::optional<AxisFlow> shared_axes(const graph::Shape& from, const graph::Shape& to) {
  if (graph::element_count(from) < 1 || graph::element_count(from) != graph::element_count(to)) return std::nullopt;
  AxisFlow flow;
  flow.operands.resize(1);
  flow.results.resize(1);
  size_t a = 0, b = 0;
  auto take = [&](bool left, bool right) {
    if (left) flow.operands[0].push_back(flow.axes), ++a;
    if (right) flow.results[0].push_back(flow.axes), ++b;
  };
  for (; a < from.size() || b < to.size(); ++flow.axes) {
    bool one = a < from.size() && from[a] == 1, other_one = b < to.size() && to[b] == 1;
    // A dimension of size 1 that only one side has is an axis by itself.
    int64_t left = one || other_one ? 1 : from[a], right = one || other_one ? 1 : to[b];
    take(one || !other_one, other_one || !one);
    while (left != right) {
      if (left < right) {
        left *= from[a];
        take(true, false);
      } else {
        right *= to[b];
        take(false, true);
      }
    }
  }
  return flow;
}

Order identity_order(size_t rank) {
  Order order(rank);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

Order inverse_order(const Order& order) {
  Order out(order.size());
  for (size_t i = 0; i < order.size(); ++i) out[static_cast<size_t>(order[i])] = static_cast<int>(i);
  return out;
}

Order compose_orders(const Order& first, const Order& second) {
  Order out;
  for (int i : second) out.push_back(first[static_cast<size_t>(i)]);
  return out;
}

graph::Shape ordered_shape(const graph::Shape& shape, const Order& order) {
  graph::Shape out;
  for (int i : order) out.push_back(shape[static_cast<size_t>(i)]);
  return out;
}

Order order_without_ones(const Order& order, const graph::Shape& shape) {
  Order out;
  std::copy_if(order.begin(), order.end(), std::back_inserter(out),
               [&](int i) { return shape[static_cast<size_t>(i)] != 1; });
  return out;
}

Order dimension_order(const std::vector<int>& dims, const Order& axes) {
  Order place = inverse_order(axes), order = identity_order(dims.size());
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return place[static_cast<size_t>(dims[static_cast<size_t>(a)])] <
           place[static_cast<size_t>(dims[static_cast<size_t>(b)])];
  });
  return order;
}

std::optional<Order> axis_order(const AxisFlow& flow, const std::vector<int>& dims, const graph::Shape& shape,
                                const Order& order) {
  // First those of dimensions that count, then the others where they stand.
  Order axes;
  auto has = [&](int axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); };
  for (int i : order)
    if (int axis = dims[static_cast<size_t>(i)]; !has(axis)) axes.push_back(axis);
  for (int axis = 0; axis < flow.axes; ++axis) {
    if (has(axis)) continue;
    auto before = std::find(axes.begin(), axes.end(), axis - 1);
    axes.insert(axis == 0 ? axes.begin() : before + 1, axis);
  }
  Order made = dimension_order(dims, axes);
  if (order_without_ones(made, shape) != order_without_ones(order, shape)) return std::nullopt;
  return axes;
}

}  // namespace aotc::ops
