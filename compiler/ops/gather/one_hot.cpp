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

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

class OneHot final : public Operator {
 public:
  std::string_view name() const override { return "one_hot"; }
  std::string_view summary() const override { return "rows with one value at an index, another elsewhere"; }
  std::vector<TypeSupport> types() const override {
    return {{DType::kI8, ""},  {DType::kF32, ""}, {DType::kI32, ""},
            {DType::kI64, ""}, {DType::kU8, ""},  {DType::kBool, ""}};
  }
  std::shared_ptr<graph::AttributesBase> default_attributes() const override { return std::make_shared<OneHotAttrs>(); }

  Result<std::vector<graph::Shape>> infer(const OpView& op, Diagnostics& diags) const override {
    if (!check_counts(op, 3, 3, 1, diags)) return kFailure;
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

  Status verify(const OpView& op, Diagnostics& diags) const override {
    const size_t moved[] = {1, 2};
    bool good =
        check_type(op, 0, {DType::kI32, DType::kI64}, diags) &&
        check_type(op, 1, {DType::kI8, DType::kF32, DType::kI32, DType::kI64, DType::kU8, DType::kBool}, diags) &&
        check_moves(op, moved, diags);
    for (size_t i : moved)
      if (good && op.operand(i).elements() != 1)
        good = bad_shape(op, diags,
                         fmt::format("operand {} of one_hot has {} elements, expected 1", i, op.operand(i).elements()));
    return good ? success() : Status(kFailure);
  }

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
};

}  // namespace

void add_one_hot(OperatorSet& set) { set.add(std::make_unique<OneHot>()); }

}  // namespace aotc::ops
