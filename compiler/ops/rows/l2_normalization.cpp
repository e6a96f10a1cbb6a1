// SPDX-License-Identifier: Apache-2.0
// l2_normalization: every row (the last dimension) divided by the root of its sum of squares. Bytes are
// multiplied by an inverse root in fixed point, which the reference finds by Newton's method.
#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/fixed_functions.h"
#include "ops/common/lowered_evaluation.h"
#include "ops/rows/rows.h"
#include "ops/signature.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

// The largest sum of squares of bytes that has room in 32 bits.
constexpr int64_t kLongestRow = ((int64_t{1} << 31) - 1) / (255 * 255);

class L2Normalization final : public SpecifiedOperator {
 public:
  L2Normalization()
      : SpecifiedOperator({.name = "l2_normalization",
                           .summary = "rows divided by their length",
                           .operands = {{.name = "x",
                                         .types = {{DType::kI8, "result scale 1/128, zero point 0"},
                                                   DType::kF32,
                                                   {DType::kU8, "result scale 1/128, zero point 128"}},
                                         .ranks = {1}}},
                           .results = {{.name = "y"}},
                           .quantized = Quantized::kPerTensor,
                           .empty = false}) {}

  void evaluate(const OpView& op, const EvalData& data) const override { evaluate_lowering(op, data); }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    LoweringBuilder f(op, "l2_normalization");
    BufferPtr in = f.operand(0), out = f.result();
    int64_t depth = op.operand(0).shape.back();
    bool is_float = op.operand(0).dtype == DType::kF32;
    f.publish_in_place(0);
    f.loop("r", 0, op.operand(0).elements() / depth, [&](Ex r) {
      Ex row = f.let("row", r * depth);
      auto element = [&](const Ex& i) {
        Ex x = load(in, row + i);
        return is_float ? x : x - op.operand(0).zero_point();
      };
      Ex sum = f.var("sum", is_float ? tir::f32(0.0f) : Ex(0));
      f.loop("i", 0, depth, [&](Ex i) {
        Ex x = f.let("x", element(i));
        f.assign(sum, sum + x * x);
      });
      if (is_float) {
        Ex root = f.let("root", call(tir::Intrinsic::kSqrt, DType::kF32, {sum}));
        Ex length = f.let("length", select(root < tir::f32(1e-6f), tir::f32(1e-6f), root));
        f.loop("i", 0, depth, [&](Ex i) { f.store(out, row + i, element(i) / length); });
        return;
      }
      byte_row(
          op, f, sum, [&](const Ex& i) { return element(i); },
          [&](const Ex& i, const Ex& v) { f.store(out, row + i, v); });
    });
    return f.finish(is_float ? "float" : "fixed point");
  }

 protected:
  bool check(const OpView& op, Diagnostics& diags) const override {
    if (op.operand(0).dtype == DType::kF32) return true;
    if (op.operand(0).shape.back() > kLongestRow) {
      bad_shape(op, diags,
                fmt::format("rows of {} elements; the sum of more than {} squares can overflow",
                            op.operand(0).shape.back(), kLongestRow));
      return false;
    }
    int64_t zero = op.operand(0).dtype == DType::kI8 ? 0 : 128;
    if (op.result().scale() == 1.0f / 128 && op.result().zero_point() == zero) return true;
    diags.error(op.where(), "op-quantization",
                fmt::format("the result has scale {} and zero point {}; l2_normalization gives scale 1/128 "
                            "and zero point {}",
                            op.result().scale(), op.result().zero_point(), zero));
    return false;
  }

 private:
  // `sum` of squares becomes inverse * 2^-shift, which every element is multiplied by.
  template <typename Element, typename Store>
  static void byte_row(const OpView& op, LoweringBuilder& f, const Ex& sum, Element element, Store store) {
    auto [inverse, shift] = emit_inverse_root(f, sum);
    bool is_signed = op.operand(0).dtype == DType::kI8;
    // Seven bits of the result are behind the point: int8 takes them off the shift, uint8 puts them in
    // front of the product.
    Ex left = is_signed ? f.let("left", max(Ex(7) - shift, 0)) : Ex(7);
    Ex right = is_signed ? f.let("right", max(shift - 7, 0)) : shift;
    Ex half = f.let("half", select(right > 0, Ex(1) << max(right - 1, 0), Ex(0)));
    f.loop("i", 0, op.operand(0).shape.back(), [&](Ex i) {
      Ex x = f.let("x", shl_wrapping(element(i), left));
      Ex product = f.let("product", emit_high_mul(x, inverse));
      // Nearest, ties away from zero.
      Ex rounded = (product + select(product < 0, max(half - 1, 0), half)) >> right;
      store(i, is_signed ? clamp(rounded, -128, 127) : clamp(rounded + 128, 0, 255));
    });
  }
};

}  // namespace

void add_l2_normalization(OperatorSet& set) { set.add(std::make_unique<L2Normalization>()); }

}  // namespace aotc::ops
