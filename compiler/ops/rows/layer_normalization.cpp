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

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

constexpr size_t kScale = 1, kBias = 2;

class LayerNormalization final : public Operator, public Transposable {
 public:
  std::string_view name() const override { return "layer_normalization"; }
  std::string_view summary() const override { return "rows by their mean and variance, or root mean square"; }
  std::vector<TypeSupport> types() const override { return {{DType::kF32, ""}}; }
  std::shared_ptr<graph::AttributesBase> default_attributes() const override {
    return std::make_shared<LayerNormalizationAttrs>();
  }

  Result<std::vector<graph::Shape>> infer(const OpView& op, Diagnostics& diags) const override {
    if (!check_counts(op, 1, 3, 1, diags) || !check_rank(op, 0, 1, 64, diags)) return kFailure;
    return std::vector<graph::Shape>{op.operand(0).shape};
  }

  Status verify(const OpView& op, Diagnostics& diags) const override {
    for (size_t i = 0; i < op.operand_count(); ++i)
      if (op.has_operand(i) && !check_type(op, i, {DType::kF32}, diags)) return kFailure;
    if (!check_result_type(op, 0, DType::kF32, diags)) return kFailure;
    const graph::Shape& shape = op.operand(0).shape;
    bool good = op.operand(0).elements() > 0;
    for (size_t i : {kScale, kBias})
      good = good && (!op.has_operand(i) || op.operand(i).shape == graph::Shape{shape.back()});
    if (!good) {
      bad_shape(op, diags,
                fmt::format("rows of shape {}, whose scale and bias are lists of the last dimension's length",
                            graph::to_string(shape)));
      return kFailure;
    }
    const auto& a = op.attrs<LayerNormalizationAttrs>();
    if (std::isfinite(a.epsilon)) return success();
    bad_attribute(op, diags, fmt::format("epsilon {}", a.epsilon));
    return kFailure;
  }

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
