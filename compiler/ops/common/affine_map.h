// SPDX-License-Identifier: Apache-2.0
// Operators whose result is their operand's elements in other places: each states a map from the
// result's indices to the operand's, and evaluation and lowering come from here. The one thing to
// know: a map is a product of axes, and an axis is a list of pieces, each affine. Reading backwards
// is a piece with a negative stride, repeating one with stride 0, a mirrored border a piece of its own.
#pragma once

#include <memory>
#include <vector>

#include "ops/common/movement.h"
#include "ops/signature.h"

namespace aotc::ops {

struct AffineMap {
  // An axis is all its pieces, one after the other; the whole is every combination of one piece of
  // each axis, nested in this order. Strides and offsets are in elements of the whole tensors, and
  // those of a combination add up.
  std::vector<std::vector<Movement>> axes;
  // What the result holds where no piece writes, as the bytes of one element; empty if nowhere.
  std::vector<uint8_t> fill;

  void add_axis(std::vector<Movement> pieces) { axes.push_back(std::move(pieces)); }
  // An axis of one piece.
  void add_axis(int64_t extent, int64_t to_stride, int64_t from_stride, int64_t from_offset = 0) {
    axes.push_back({{{extent}, {to_stride}, {from_stride}, 0, from_offset}});
  }
};

// Equal maps, with axes of one piece made part of the axis in front of them; the pieces simplified.
AffineMap folded(const AffineMap& map);

void run_map(const AffineMap& map, std::span<const uint8_t> from, std::span<uint8_t> to, int element_bytes);
// Pieces are code of their own, or rows of a table where there would be many.
void emit_map(LoweringBuilder& f, const tir::BufferPtr& to, const tir::BufferPtr& from, const AffineMap& map);

// One operand, one result of the same type and quantisation, and a map.
class RearrangeOperator : public SpecifiedOperator, public Fusable {
 public:
  using SpecifiedOperator::SpecifiedOperator;
  void evaluate(const OpView& op, const EvalData& data) const override;
  Lowered lower(const OpView& op, const TargetInfo& target) const override;
  bool is_identity(const OpView& op) const override;
  // A reshape, where everything stays in its order.
  std::optional<graph::Op> generalized(graph::Graph& graph, const graph::Op& op) const override;

 protected:
  // Of a verified operator.
  virtual AffineMap map_of(const OpView& op) const = 0;
};

}  // namespace aotc::ops
