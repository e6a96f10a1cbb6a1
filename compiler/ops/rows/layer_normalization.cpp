// SPDX-License-Identifier: Apache-2.0
// layer_normalization: every row (the last dimension) less its mean, over the root of its variance, times a scale and
// plus a bias for each of its places; without the mean it is a normalisation by root mean square. Sums are from the
// first element on, each step is rounded to float32, and what divides all of a row is a factor.
#include <cmath>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/lowered_evaluation.h"
#include "ops/rows/attributes.h"
#include "ops/rows/rows.h"
#include "ops/signature.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

constexpr size_t kScale = 1, kBias = 2;

class LayerNormalization final : public SpecifiedOperator, public Transposable {
 public:
  LayerNormalization()
      : SpecifiedOperator({.name = "layer_normalization",
                           .summary = "rows by their mean and variance, or root mean square",
                           .operands = {{.name = "x", .types = {DType::kF32}, .ranks = {1}},
                                        {.name = "scale", .types = {DType::kF32}, .optional = true},
                                        {.name = "bias", .types = {DType::kF32}, .optional = true}},
                           .results = {{.name = "y"}},
                           .attributes = make_attributes<LayerNormalizationAttrs>,
                           .ranges = {finite<&LayerNormalizationAttrs::epsilon>("epsilon")}}) {}

  std::optional<AxisFlow> axis_flow(const OpView& op) const override {
    AxisFlow flow = same_axes(1, 1, op.result().shape.size());
    flow.operands.resize(op.operand_count());  // lists stay as they are
    return flow;
  }
  // Rows stay rows.
  SharedAttributes attributes_for_axes(const OpView& op, const Order& axes) const override {
    return axes.back() == static_cast<int>(axes.size()) - 1 ? op.op.attributes : nullptr;
  }

  void evaluate(const OpView& op, const EvalData& data) const override { evaluate_lowering(op, data); }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    const auto& a = op.attrs<LayerNormalizationAttrs>();
    LoweringBuilder f(op, "layer_normalization");
    const int64_t depth = op.operand(0).shape.back();
    const Ex count = tir::f32(static_cast<float>(depth));
    BufferPtr in = f.operand(0), scale = op.has_operand(kScale) ? f.operand(kScale) : nullptr,
              bias = op.has_operand(kBias) ? f.operand(kBias) : nullptr, out = f.result();
    f.publish_in_place(0);
    f.loop("r", 0, op.operand(0).elements() / depth, [&](Ex r) {
      Ex row = f.let("row", r * depth);
      Ex mean = a.centred ? f.let("mean", sum_of(f, depth, [&](const Ex& i) { return load(in, row + i); }) / count)
                          : tir::f32(0.0f);
      auto centred = [&](const Ex& i) { return a.centred ? load(in, row + i) - mean : load(in, row + i); };
      Ex variance = sum_of(f, depth,
                           [&](const Ex& i) {
                             Ex x = f.let("x", centred(i));
                             return x * x;
                           }) /
                    count;
      Ex root = f.let("root", call(tir::Intrinsic::kSqrt, DType::kF32, {variance + tir::f32(a.epsilon)}));
      Ex inverse = f.let("inverse", tir::f32(1.0f) / root);
      f.loop("i", 0, depth, [&](Ex i) {
        Ex y = centred(i) * inverse;
        if (scale) y = y * load(scale, i);
        if (bias) y = y + load(bias, i);
        f.store(out, row + i, y);
      });
    });
    return f.finish("float");
  }

 protected:
  bool check(const OpView& op, Diagnostics& diags) const override {
    const graph::Shape& shape = op.operand(0).shape;
    bool good = op.operand(0).elements() > 0;
    for (size_t i : {kScale, kBias})
      good = good && (!op.has_operand(i) || op.operand(i).shape == graph::Shape{shape.back()});
    if (!good) {
      bad_shape(op, diags,
                fmt::format("rows of shape {}, whose scale and bias are lists of the last dimension's length",
                            graph::to_string(shape)));
      return false;
    }
    return true;
  }

 private:
  template <typename Element>
  static Ex sum_of(LoweringBuilder& f, int64_t depth, Element element) {
    Ex sum = f.var("sum", tir::f32(0.0f));
    f.loop("i", 0, depth, [&](Ex i) { f.assign(sum, sum + element(i)); });
    return sum;
  }
};

}  // namespace

void add_layer_normalization(OperatorSet& set) { set.add(std::make_unique<LayerNormalization>()); }

}  // namespace aotc::ops
