// SPDX-License-Identifier: Apache-2.0
// local_response_normalization: each pixel's channels scaled down by the squares of their neighbours.
#include <algorithm>
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

class LocalResponseNormalization final : public Operator {
 public:
  std::string_view name() const override { return "local_response_normalization"; }
  std::string_view summary() const override { return "channels scaled down by their neighbours, NHWC"; }
  Traits traits() const override { return {.uses_libm = true}; }
  std::vector<TypeSupport> types() const override { return {{DType::kF32, ""}}; }
  std::shared_ptr<graph::AttributesBase> default_attributes() const override {
    return std::make_shared<ResponseAttrs>();
  }

  Result<std::vector<graph::Shape>> infer(const OpView& op, Diagnostics& diags) const override {
    if (!check_counts(op, 1, 1, 1, diags) || !check_rank(op, 0, 4, 4, diags)) return kFailure;
    return std::vector<graph::Shape>{op.operand(0).shape};
  }

  Status verify(const OpView& op, Diagnostics& diags) const override {
    const auto& a = op.attrs<ResponseAttrs>();
    if (!check_type(op, 0, {DType::kF32}, diags) || !check_result_type(op, 0, DType::kF32, diags)) return kFailure;
    if (a.radius >= 0 && a.radius < 1 << 24 && std::isfinite(a.bias) && std::isfinite(a.alpha) &&
        std::isfinite(a.beta) && op.operand(0).elements() > 0)
      return success();
    bad_attribute(op, diags,
                  fmt::format("radius {}, bias {}, alpha {}, beta {} of shape {}", a.radius, a.bias, a.alpha, a.beta,
                              graph::to_string(op.operand(0).shape)));
    return kFailure;
  }

  void evaluate(const OpView& op, const EvalData& data) const override { evaluate_lowering(op, data); }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    const auto& a = op.attrs<ResponseAttrs>();
    LoweringBuilder f(op, "local_response_normalization");
    BufferPtr in = f.operand(0), out = f.result();
    int64_t depth = op.operand(0).shape[3], radius = std::min<int64_t>(a.radius, depth);
    f.loop("r", 0, op.operand(0).elements() / depth, [&](Ex r) {
      Ex row = f.let("row", r * depth);
      f.loop("c", 0, depth, [&](Ex c) {
        Ex sum = f.var("sum", tir::f32(0.0f));
        // The reference's range ends in front of c + radius.
        f.loop("i", max(c - radius, 0), f.let("end", min(c + radius, depth)), [&](Ex i) {
          Ex x = f.let("x", load(in, row + i));
          f.assign(sum, sum + x * x);
        });
        Ex base = tir::f32(a.bias) + tir::f32(a.alpha) * sum;
        Ex factor = call(tir::Intrinsic::kPow, DType::kF32, {base, tir::f32(-a.beta)});
        f.store(out, row + c, load(in, row + c) * factor);
      });
    });
    return f.finish("float");
  }
};

}  // namespace

void add_local_response_normalization(OperatorSet& set) { set.add(std::make_unique<LocalResponseNormalization>()); }

}  // namespace aotc::ops
