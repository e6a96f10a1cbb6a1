// SPDX-License-Identifier: Apache-2.0
// one_hot: for each index a row along a new axis, with one value at the index and another elsewhere. An
// index that no place of the row has gives a row without it. Operands: indices, the one value, the other.
#include <algorithm>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/lowered_evaluation.h"
#include "ops/common/movement.h"
#include "ops/gather/attributes.h"
#include "ops/gather/indices.h"
#include "ops/signature.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

class OneHot final : public SpecifiedOperator {
 public:
  OneHot()
      : SpecifiedOperator(
            {.name = "one_hot",
             .summary = "rows with one value at an index, another elsewhere",
             .operands = {{.name = "indices", .types = {DType::kI32, DType::kI64}},
                          {.name = "on",
                           .types = {DType::kI8, DType::kF32, DType::kI32, DType::kI64, DType::kU8, DType::kBool},
                           .moved = true},
                          {.name = "off", .same_type_as = 1, .moved = true}},
             .results = {{.name = "y", .type_of = 1}},
             .principal = 1,
             .shapes = Shapes::kOwn,
             .attributes = make_attributes<OneHotAttrs>}) {}

  void evaluate(const OpView& op, const EvalData& data) const override { evaluate_lowering(op, data); }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    const auto& attrs = op.attrs<OneHotAttrs>();
    AxisView v = view_at(op.result().shape, static_cast<size_t>(attrs.axis));
    LoweringBuilder f(op, "one_hot");
    BufferPtr indices = f.operand(0), one = f.operand(1), other = f.operand(2), out = f.result();
    Ex there = f.let("there", load(one, 0)), elsewhere = f.let("elsewhere", load(other, 0));
    f.loop("i", 0, out->elements, [&](Ex i) { f.store(out, i, elsewhere); });
    f.loop("o", 0, v.outer, [&](Ex o) {
      f.loop("k", 0, v.inner, [&](Ex k) {
        // The reference looks at the low 32 bits.
        Ex given = load(indices, o * v.inner + k);
        Ex index = f.let("index", given.type() == DType::kI32 ? given : cast_wrapping(DType::kI32, given));
        f.if_(index >= 0 && index < attrs.depth, [&] { f.store(out, (o * v.axis + index) * v.inner + k, there); });
      });
    });
    return f.finish("filled");
  }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    graph::Shape shape = op.operand(0).shape;
    const auto& attrs = op.attrs<OneHotAttrs>();
    if (attrs.depth < 1 || attrs.axis < 0 || static_cast<size_t>(attrs.axis) > shape.size()) {
      bad_attribute(
          op, diags,
          fmt::format("a depth of {} at axis {} of indices of rank {}", attrs.depth, attrs.axis, shape.size()));
      return kFailure;
    }
    shape.insert(shape.begin() + attrs.axis, attrs.depth);
    return std::vector<graph::Shape>{shape};
  }

  bool check(const OpView& op, Diagnostics& diags) const override {
    for (size_t i : {1, 2})
      if (op.operand(i).elements() != 1)
        return bad_shape(op, diags,
                         fmt::format("operand {} of one_hot has {} elements, expected 1", i, op.operand(i).elements()));
    return true;
  }
};

}  // namespace

void add_one_hot(OperatorSet& set) { set.add(std::make_unique<OneHot>()); }

}  // namespace aotc::ops
