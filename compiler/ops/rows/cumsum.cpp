// SPDX-License-Identifier: Apache-2.0
// cumsum: running sums along an axis, from either end, with or without the element itself.
#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/lowered_evaluation.h"
#include "ops/common/movement.h"
#include "ops/rows/attributes.h"
#include "ops/rows/rows.h"
#include "ops/signature.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

class Cumsum final : public SpecifiedOperator {
 public:
  Cumsum()
      : SpecifiedOperator(
            {.name = "cumsum",
             .summary = "running sums along an axis",
             .operands = {{.name = "x",
                           .types = {DType::kF32, {DType::kI32, "wraps around"}, {DType::kI64, "wraps around"}}}},
             .results = {{.name = "sums"}},
             .attributes = make_attributes<CumsumAttrs>,
             .ranges = {axis_of<&CumsumAttrs::axis>("axis")}}) {}

  void evaluate(const OpView& op, const EvalData& data) const override { evaluate_lowering(op, data); }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    const auto& attrs = op.attrs<CumsumAttrs>();
    AxisView v = view_at(op.operand(0).shape, static_cast<size_t>(attrs.axis));
    LoweringBuilder f(op, "cumsum");
    BufferPtr in = f.operand(0), out = f.result();
    DType type = op.operand(0).dtype;
    f.publish_in_place(0);
    f.loop("o", 0, v.outer, [&](Ex o) {
      f.loop("k", 0, v.inner, [&](Ex k) {
        Ex first = f.let("first", o * (v.axis * v.inner) + k);
        Ex sum = f.var("sum", type == DType::kF32 ? tir::f32(0.0f) : tir::imm(type, 0));
        f.loop("i", 0, v.axis, [&](Ex i) {
          Ex at = f.let("at", first + (attrs.reverse ? Ex(v.axis - 1) - i : i) * v.inner);
          Ex x = f.let("x", load(in, at));
          Ex next = type == DType::kF32 ? sum + x : add_wrapping(sum, x);
          if (attrs.exclusive) f.store(out, at, sum);
          f.assign(sum, next);
          if (!attrs.exclusive) f.store(out, at, sum);
        });
      });
    });
    return f.finish("one sum per row");
  }
};

}  // namespace

void add_cumsum(OperatorSet& set) { set.add(std::make_unique<Cumsum>()); }

}  // namespace aotc::ops
