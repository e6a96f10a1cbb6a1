// SPDX-License-Identifier: Apache-2.0
// Optional interfaces of operators: groups of facts that passes and planners act on. An operator that has such facts
// derives from the interface as well as from Operator; `definition.as<Fusable>()` is null for all others.
//
// Every function expects a verified operator, and reports nothing, unless its comment says otherwise.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "graph/graph.h"
#include "ops/axes.h"
#include "ops/channels.h"
#include "ops/row_flow.h"
#include "ops/row_sums.h"
#include "support/diagnostics.h"

namespace aotc::ops {

enum class Activation : uint8_t;  // ops/common/activation.h
struct OpView;                    // ops/operator.h
using SharedAttributes = std::shared_ptr<const graph::AttributesBase>;

// An extension of operand 0: elements added before and after each dimension, all equal to `fill`.
struct Padding {
  std::vector<int64_t> before;  // by dimension, in elements
  std::vector<int64_t> after;
  std::vector<uint8_t> fill;  // the bytes of one element
};

// Fusion: the operator disappears, or becomes part of the operator that computes its operand.
class Fusable {
 public:
  virtual ~Fusable() = default;

  // The result always equals operand 0, element by element, in the same order.
  virtual bool is_identity(const OpView&) const { return false; }
  // The activation, if the operator computes nothing else of operand 0 (relu: kRelu). The producer takes it into its
  // attribute `activation`.
  virtual std::optional<Activation> as_activation(const OpView&) const { return std::nullopt; }
  // The padding, if the operator does nothing else to operand 0 and its amounts are constant.
  virtual std::optional<Padding> as_padding(const OpView&) const { return std::nullopt; }
  // The index of the constant operand, if the operator is a float32 sum of two operands: the constant has as many
  // elements as a row (last dimension) of the result, and the other operand has the shape of the result.
  virtual std::optional<size_t> as_addition(const OpView&) const { return std::nullopt; }
  // The operator accepts one more operand of float32, with as many elements as a row of the result, and adds it to
  // every row after everything else except the attribute `activation`.
  virtual bool takes_addition(const OpView&) const { return false; }
};

// Layout: the operator computes the same with its dimensions in another order, so transposes move through it.
// Operators without the interface have the defaults of ops::axis_flow below.
class Transposable {
 public:
  virtual ~Transposable() = default;

  // The order, if the result is operand 0 with permuted dimensions (transpose).
  virtual std::optional<Order> as_transposition(const OpView&) const { return std::nullopt; }
  // The axes that the operator works along; nullopt if another order of dimensions changes a bit of the result.
  virtual std::optional<AxisFlow> axis_flow(const OpView&) const { return std::nullopt; }
  // The attributes of the same operator with its axes in the order `axes`; null if the results would differ.
  virtual SharedAttributes attributes_for_axes(const OpView& op, const Order& axes) const;
  // Length of the reduction dimension if operand 0 x constant [units, n] may be permuted along it; otherwise 0.
  virtual int64_t permutable_reduction(const OpView&) const { return 0; }
};

// Streaming: the operator computes its result row by row, or consumes operand 0 row by row. Rows are dimension 1 of
// NHWC tensors with a batch of one. Operators without the interface have the defaults of ops::row_flow below.
class Streamable {
 public:
  virtual ~Streamable() = default;

  // The rows of operand 0 that a row of the result needs; nullopt if it needs all of them.
  virtual std::optional<RowFlow> row_flow(const OpView&) const { return std::nullopt; }
  // The attributes of the same operator without padding above and below.
  virtual SharedAttributes attributes_for_rows(const OpView& op) const;
  // A pixel of the result [1, H, W, C] depends only on the pixel of operand 0 at the same position.
  virtual bool is_pointwise(const OpView&) const { return false; }
  // The operator can consume operand 0 in `pieces` equal parts that follow each other in memory (ops/row_sums.h).
  virtual bool sums_pieces(const OpView&, int64_t /*pieces*/) const { return false; }
  // The functions for that; called only if sums_pieces is true.
  virtual RowSums lower_pieces(const OpView& op, int64_t pieces, const TargetInfo& target) const;
};

// Channel pruning: constant and unread channels of int8 tensors are removed (ops/channels.h).
class Prunable {
 public:
  virtual ~Prunable() = default;

  // How the channels of the result depend on those of the operands. If kOpaque, the other functions are not called.
  virtual ChannelFlow channel_flow(const OpView& op) const = 0;
  // The range of stored values of each channel of the result, from the ranges of every operand's channels. The list of
  // an operand that is absent or not int8 is empty.
  virtual ChannelRanges channel_ranges(const OpView& op, const std::vector<ChannelRanges>& operands) const = 0;
  // The attributes of the same operator with `channels` result channels.
  virtual SharedAttributes attributes_for_channels(const OpView& op, int64_t channels) const;
};

// A value that an operator keeps between runs. Every bit is 0 before the first run, unless `initial` has other bytes.
struct OperatorState {
  graph::TensorType type;
  std::optional<size_t> result;  // index of the result that is the value after a run; without: an additional result
  std::vector<uint8_t> initial;  // bytes; empty: zeros

  // A counter of runs or samples: an int32 that starts with `initial`.
  static OperatorState counter(int32_t initial);
};

// State that no tensor of the model's file has.
class Stateful {
 public:
  virtual ~Stateful() = default;

  // The values kept between runs. Frontends call it with the operands, results and attributes of the model's file,
  // before verification; each value before a run then becomes one more operand at the end. Reports the reason if the
  // operator cannot keep its state.
  virtual Result<std::vector<OperatorState>> states(const OpView& op, Diagnostics& diags) const = 0;
};

// The facts of any operator. Operators without the interface have these defaults:
// An elementwise operator with one operand and one result of the same shape has every axis.
std::optional<AxisFlow> axis_flow(const OpView& op);
// An elementwise or broadcasting operator computes a row from the row at the same position.
std::optional<RowFlow> row_flow(const OpView& op);
// The attributes stay as they are.
SharedAttributes attributes_for_axes(const OpView& op, const Order& axes);
SharedAttributes attributes_for_rows(const OpView& op);
SharedAttributes attributes_for_channels(const OpView& op, int64_t channels);
// 0, false, kOpaque.
int64_t permutable_reduction(const OpView& op);
bool is_pointwise(const OpView& op);
bool sums_pieces(const OpView& op, int64_t pieces);
ChannelFlow channel_flow(const OpView& op);

}  // namespace aotc::ops
