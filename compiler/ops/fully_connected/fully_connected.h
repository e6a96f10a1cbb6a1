// SPDX-License-Identifier: Apache-2.0
// fully_connected: every row of `depth` elements of the input times a matrix. Operands: input (any
// shape whose elements divide into rows), weights [units, depth], optional bias [units]. Result:
// [rows, units], or the input's shape with `units` as last dimension if keep_num_dims.
#pragma once

#include "ops/common/activation.h"
#include "ops/common/conv.h"
#include "ops/common/requantize.h"
#include "ops/common/wide_requantize.h"
#include "ops/interfaces.h"
#include "ops/operator.h"

namespace aotc::ops {

struct FullyConnectedAttrs : graph::Attributes<FullyConnectedAttrs> {
  Activation activation = Activation::kNone;
  bool keep_num_dims = false;
  // Of float activations and int8 weights: rows are quantised with a zero point.
  bool asymmetric_rows = false;
  RoundingRule rounding = RoundingRule::kLitert;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("activation", self.activation);
    field("keep_num_dims", self.keep_num_dims);
    field("asymmetric_rows", self.asymmetric_rows);
    field("rounding", self.rounding);
  }
};

// The result's shape, whatever the weights are. Expects operands whose counts and ranks are in order.
Result<std::vector<graph::Shape>> fully_connected_shape(const OpView& op, Diagnostics& diags);

// int8 only; `ranges` per unit as the lowering needs it (the reference does not look at it).
Requantization fully_connected_scaling(const OpView& op, std::vector<AccRange> ranges);

// int8 only: the biases for sums over `weights` ([units][depth], less their zero point) and stored inputs, and
// how the sums are scaled. Units whose result is constant are tame.
template <typename T>
std::pair<FoldedBias, Requantization> folded_scaling(const OpView& op, const std::vector<T>& weights) {
  int64_t units = op.operand(1).shape[0], depth = op.operand(1).shape[1];
  FoldedBias folded = fold_bias(op, units, [&](int64_t u) {
    return std::vector<int32_t>(weights.begin() + u * depth, weights.begin() + (u + 1) * depth);
  });
  Requantization scaling = fully_connected_scaling(op, folded.ranges);
  scaling.tame_constant_channels(folded.bias);
  return {std::move(folded), std::move(scaling)};
}

// int16 only.
WideScaling fully_connected_wide_scaling(const OpView& op);

Lowered lower_fully_connected(const OpView& op, const TargetInfo& target);

// int8 for cores without vectors (lower_quad.cpp), nothing where the general way is as fast.
std::optional<Lowered> lower_fully_connected_quad(const OpView& op, const TargetInfo& target);

// Of one row in so many equal pieces (lower_sums.cpp), unless it is a hybrid one.
RowSums lower_fully_connected_pieces(const OpView& op, int64_t pieces, const TargetInfo& target);

// Float activations and int8 weights (hybrid.cpp; arithmetic in ops/common/hybrid.h).
void evaluate_fully_connected_hybrid(const OpView& op, const EvalData& data);
Lowered lower_fully_connected_hybrid(const OpView& op, const TargetInfo& target);

// Rows stay rows: the axes but the last may change places if keep_num_dims.
std::optional<AxisFlow> fully_connected_axes(const OpView& op);
SharedAttributes fully_connected_attributes(const OpView& op, const Order& axes);
// For operators whose scales are an operand: the optional bias has a number for each unit, and scales are finite and,
// unless `negative`, not below 0. Report what is wrong.
bool check_unit_bias(const OpView& op, size_t bias, Diagnostics& diags);
bool check_block_scales(const OpView& op, size_t scales, Diagnostics& diags, bool negative = false);

// The operator fully_connected_computed, whose weights are no constant (computed.cpp).
void add_fully_connected_computed(OperatorSet& set);
// The operator fully_connected_blocks (blocks.cpp): input, int4 weights [units, depth] without a scale, scales
// [units, blocks], optional bias.
void add_fully_connected_blocks(OperatorSet& set);
// The operator fully_connected_dequantized (dequantized.cpp): input, int8 or int4 weights [units, depth] without a
// scale, scales [units, blocks], zero points of the same shape, optional bias.
void add_fully_connected_dequantized(OperatorSet& set);

}  // namespace aotc::ops
