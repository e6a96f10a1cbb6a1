// SPDX-License-Identifier: Apache-2.0
// What passes may know of an operator's dimensions: whether it does the same on tensors whose
// dimensions stand in another order. The one thing to know: an order lists, for each new place,
// what stood where before: {0, 2, 3, 1} makes NHWC of NCHW, as the attribute of transpose does.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace aotc::ops {

using Order = std::vector<int>;

// An operator works along axes, numbered as it has them now, outermost first. Its dimensions are
// axes of it: dimensions of one tensor that are the same axis are neighbours and stay so. Operands
// and results that have none (an empty list) stay as they are.
struct AxisFlow {
  int axes = 0;
  std::vector<std::vector<int>> operands, results;
  // An operand that lacks an axis has dimensions of size 1 there where another order needs them.
  bool broadcasts = false;
};

// Operands and results that have rank `axes`, dimension by dimension.
AxisFlow same_axes(size_t operands, size_t results, size_t axes);
// Operands that broadcast to result 0, aligned at the last dimension.
AxisFlow broadcast_axes(const std::vector<graph::Shape>& operands, const graph::Shape& result);
// Of a tensor under another shape: each axis is the smallest group of dimensions with as many
// elements on either side. Nothing where there are no elements.
std::optional<AxisFlow> shared_axes(const graph::Shape& from, const graph::Shape& to);

Order identity_order(size_t rank);
// place[order[i]] = i.
Order inverse_order(const Order& order);
// One after the other: the dimension that stands at i in the end.
Order compose_orders(const Order& first, const Order& second);
graph::Shape ordered_shape(const graph::Shape& shape, const Order& order);
// What counts of an order: the dimensions of a size other than 1. Equal ones give equal bytes.
Order order_without_ones(const Order& order, const graph::Shape& shape);

// Of a tensor whose dimensions are `dims` (axes): in which order they are when the axes are in
// `axes`.
Order dimension_order(const std::vector<int>& dims, const Order& axes);
// An order of the axes that gives the tensor of `shape` that order; nothing if dimensions of one
// axis are torn apart. Axes that the tensor lacks stay behind the one before them.
std::optional<Order> axis_order(const AxisFlow& flow, const std::vector<int>& dims, const graph::Shape& shape,
                                const Order& order);

}  // namespace aotc::ops
