// SPDX-License-Identifier: Apache-2.0
// local_response_normalization: each pixel's channels scaled down by the squares of their neighbours.
#include <algorithm>
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

class LocalResponseNormalization final : public SpecifiedOperator {
 public:
  LocalResponseNormalization()
      : SpecifiedOperator({.name = "local_response_normalization",
                           .summary = "channels scaled down by their neighbours, NHWC",
                           .operands = {{.name = "x", .types = {DType::kF32}, .ranks = {4, 4}}},
                           .results = {{.name = "y"}},
                           .empty = false,
                           .traits = {.uses_libm = true},
                           .attributes = make_attributes<ResponseAttrs>,
                           .ranges = {within<&ResponseAttrs::radius>("radius", 0, (1 << 24) - 1),
                                      finite<&ResponseAttrs::bias>("bias"), finite<&ResponseAttrs::alpha>("alpha"),
                                      finite<&ResponseAttrs::beta>("beta")}}) {}

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
