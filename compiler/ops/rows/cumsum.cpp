// SPDX-License-Identifier: Apache-2.0
// cumsum: running sums along an axis, from either end, with or without the element itself.
#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/lowered_evaluation.h"
#include "ops/common/movement.h"
#include "ops/rows/attributes.h"
#include "ops/rows/rows.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

class Cumsum final : public Operator {
 public:
  std::string_view name() const override { return "cumsum"; }
  std::string_view summary() const override { return "running sums along an axis"; }
  std::vector<TypeSupport> types() const override {
    return {{DType::kF32, ""}, {DType::kI32, "wraps around"}, {DType::kI64, "wraps around"}};
  }
  std::shared_ptr<graph::AttributesBase> default_attributes() const override { return std::make_shared<CumsumAttrs>(); }

  Result<std::vector<graph::Shape>> infer(const OpView& op, Diagnostics& diags) const override {
    if (!check_counts(op, 1, 1, 1, diags)) return kFailure;
    const graph::Shape& in = op.operand(0).shape;
    int32_t axis = op.attrs<CumsumAttrs>().axis;
    if (axis >= 0 && static_cast<size_t>(axis) < in.size()) return std::vector<graph::Shape>{in};
    bad_attribute(op, diags, fmt::format("axis {} of {} dimensions", axis, in.size()));
    return kFailure;
  }

  Status verify(const OpView& op, Diagnostics& diags) const override {
    return check_type(op, 0, {DType::kF32, DType::kI32, DType::kI64}, diags) &&
                   check_result_type(op, 0, op.operand(0).dtype, diags)
               ? success()
               : Status(kFailure);
  }

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
