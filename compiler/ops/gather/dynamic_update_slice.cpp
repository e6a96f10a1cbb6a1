// SPDX-License-Identifier: Apache-2.0
// dynamic_update_slice: a tensor with a box of it replaced. Where the box begins is known at run time,
// and moved so that it lies inside, so nothing can fail.
#include <algorithm>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/elementwise.h"
#include "ops/common/movement.h"
#include "ops/gather/indices.h"
#include "ops/signature.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

class DynamicUpdateSlice final : public SpecifiedOperator {
 public:
  DynamicUpdateSlice()
      : SpecifiedOperator({.name = "dynamic_update_slice",
                           .summary = "a tensor with a box of it replaced",
                           .operands = {{.name = "x", .types = movable_types(), .moved = true},
                                        {.name = "update", .types = movable_types(), .moved = true},
                                        {.name = "start", .types = {DType::kI32, DType::kI64}, .ranks = {1, 1}}},
                           .results = {{.name = "y"}},
                           .shapes = Shapes::kOwn}) {}

  void evaluate(const OpView& op, const EvalData& data) const override {
    std::copy(data.operands[0].begin(), data.operands[0].end(), data.results[0].begin());
    Movement move = box(op);
    std::vector<int64_t> begin = widen(op.operand(2).dtype, data.operands[2]);
    for (size_t i = 0; i < begin.size(); ++i)
      move.to_offset += std::clamp<int64_t>(begin[i], 0, room(op, i)) * move.to_strides[i];
    run_movement(move, data.operands[1], data.results[0], size_of(op.result().dtype));
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    LoweringBuilder f(op, "dynamic_update_slice");
    BufferPtr whole = f.operand(0), part = f.operand(1), begin = f.operand(2), out = f.result();
    f.copy(out, 0, whole, 0, whole->elements);
    Movement move = box(op);
    Ex at = 0;
    for (size_t i = 0; i < move.extents.size(); ++i) {
      if (room(op, i) == 0) continue;
      Ex index = load(begin, static_cast<int64_t>(i));
      auto number = [&](int64_t v) { return tir::imm(index.type(), v); };
      Ex inside = f.let("index", clamp(index, number(0), number(room(op, i))));
      at = at + (inside.type() == DType::kI32 ? inside : cast(DType::kI32, inside)) * move.to_strides[i];
    }
    emit_movement(f, out, part, move, f.let("at", at));
    return f.finish("copy");
  }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    const graph::Shape& whole = op.operand(0).shape;
    const graph::Shape& part = op.operand(1).shape;
    bool fits =
        whole.size() == part.size() && !whole.empty() && op.operand(2).shape[0] == static_cast<int64_t>(whole.size());
    for (size_t i = 0; fits && i < whole.size(); ++i) fits = part[i] <= whole[i];
    if (fits) return std::vector<graph::Shape>{whole};
    bad_shape(op, diags,
              fmt::format("a box of shape {} at {} indices does not fit into shape {}", graph::to_string(part),
                          op.operand(2).shape[0], graph::to_string(whole)));
    return kFailure;
  }

 private:
  static Movement box(const OpView& op) {
    return {op.operand(1).shape, strides_of(op.operand(0).shape), strides_of(op.operand(1).shape), 0, 0};
  }
  // Where the box may begin at most.
  static int64_t room(const OpView& op, size_t dim) { return op.operand(0).shape[dim] - op.operand(1).shape[dim]; }
};

}  // namespace

void add_dynamic_update_slice(OperatorSet& set) { set.add(std::make_unique<DynamicUpdateSlice>()); }

}  // namespace aotc::ops
