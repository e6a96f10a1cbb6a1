// SPDX-License-Identifier: Apache-2.0
// mul: product of two tensors, with broadcasting and a fused activation.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>

#include "ops/common/affine.h"
#include "ops/common/binary.h"
#include "ops/common/known_fits.h"
#include "ops/common/pair_budget.h"
#include "ops/common/product_form.h"
#include "ops/common/requantize.h"
#include "ops/common/scaler.h"

namespace aotc::ops {

namespace {

using tir::Ex;

// In float32 throughout: the last bit of this quotient decides ties.
float real_multiplier(const OpView& op) {
  float product = op.operand(0).scale() * op.operand(1).scale();
  return product / op.result().scale();
}

EvenProduct even_product(const OpView& op, ClampI32 clamp) {
  const int32_t up = model_offset(op.attrs<BinaryAttrs>().rounding);
  return {real_multiplier(op), op.result().zero_point(), up, clamp};
}

ProductZeros zeros(const OpView& op) { return {op.operand(0).zero_point(), op.operand(1).zero_point()}; }

bool by_onnxruntime(const OpView& op) { return op.attrs<BinaryAttrs>().rounding != PairRounding::kLitert; }

// Largest |(a - a_zero) * (b - b_zero)|.
int64_t largest_product(const OpView& op) {
  auto largest = [&](size_t i) {
    int64_t zero = op.operand(i).zero_point();
    IntRange range = int_range(op.operand(i).dtype);
    return std::max(range.max - zero, zero - range.min);
  };
  return largest(0) * largest(1);
}

// fit_product, proven once for a report's levels and boards.
template <typename Wanted>
std::optional<ProductForm> find_product(const OpView& op, ClampI32 clamp, QuantizedMultiplier m, const Wanted& wanted) {
  if (!PairBudget::any()) return std::nullopt;
  auto prove = [&]() -> std::optional<KnownFits::Form> {
    auto form = fit_product(zeros(op), clamp, m, wanted);
    if (!form) return std::nullopt;
    return KnownFits::Form{form->multiplier, form->offset, form->shift};
  };
  auto known = KnownFits::find(KnownFits::key_of(op, KnownFits::Function::kProduct, clamp), prove);
  if (!known) return std::nullopt;
  return ProductForm{(*known)[0], (*known)[1], (*known)[2]};
}

class Mul final : public BinaryArithmetic {
 public:
  Mul() : BinaryArithmetic("mul", "product of two tensors, broadcasting") {}

 protected:
  float compute(float a, float b) const override { return a * b; }
  uint64_t compute(uint64_t a, uint64_t b) const override { return a * b; }
  Ex emit(const Ex& a, const Ex& b) const override { return a.type() == DType::kF32 ? a * b : mul_wrapping(a, b); }

  bool verify_quantized(const OpView& op, Diagnostics& diags) const override {
    return check_multiplier(op, static_cast<double>(real_multiplier(op)), largest_product(op), diags);
  }

  std::function<int64_t(int64_t, int64_t)> quantized(const OpView& op) const override {
    QuantizedMultiplier m = quantize_multiplier(static_cast<double>(real_multiplier(op)));
    ClampI32 clamp = quantized_clamp(op.attrs<BinaryAttrs>().activation, op.result());
    if (by_onnxruntime(op))
      return [even = even_product(op, clamp), za = op.operand(0).zero_point(), zb = op.operand(1).zero_point()](
                 int64_t a, int64_t b) { return even((a - za) * (b - zb)); };
    int64_t za = op.operand(0).zero_point(), zb = op.operand(1).zero_point();
    int64_t zero = op.result().zero_point();
    return [=](int64_t a, int64_t b) {
      auto product = static_cast<int32_t>((a - za) * (b - zb));
      int64_t v = multiply_by_quantized_multiplier(product, m);
      return std::clamp<int64_t>(v + zero, clamp.min, clamp.max);
    };
  }

  Lowered lower_quantized(const OpView& op, const TargetInfo&) const override {
    ClampI32 clamp = quantized_clamp(op.attrs<BinaryAttrs>().activation, op.result());
    QuantizedMultiplier m = quantize_multiplier(static_cast<double>(real_multiplier(op)));
    LoweringBuilder f(op, "mul");
    std::array<tir::BufferPtr, 2> in = {f.operand(0), f.operand(1)};
    Parameters p;
    std::array<size_t, 2> zero = {p.add("a_zero", op.operand(0).zero_point()),
                                  p.add("b_zero", op.operand(1).zero_point())};
    // All pairs of int16 are too many to try.
    bool bytes = op.operand(0).dtype == DType::kI8;
    std::optional<ProductForm> form;
    if (by_onnxruntime(op)) {
      form = find_product(op, clamp, m, even_product(op, clamp));
    } else if (bytes && m.shift <= 0) {
      form = find_product(op, clamp, m, RoundedTwice(m, op.result().zero_point(), clamp));
    }
    std::function<Ex(const Ex&)> scale = form                 ? emit_form(f, p, *form)
                                         : by_onnxruntime(op) ? emit_even(f, p, op, clamp)
                                                              : emit_reference(f, p, m, op.result().zero_point());
    tir::BufferPtr result = f.result();
    Broadcast(op).emit(
        f, result,
        [&](size_t i, const Ex& index) { return f.let(i == 0 ? "a" : "b", load(in[i], index) - p[zero[i]]); },
        [&](const std::vector<Ex>& v) { return emit_bound(scale(f.let("product", v[0] * v[1])), clamp); });
    publish_in_place(f, op);
    return f.finish(form ? "one rounding, proven equal for all pairs" : "fixed point");
  }

 private:
  // Both load the parameters and give the code that makes a product a result before the clamp.
  static std::function<Ex(const Ex&)> emit_reference(LoweringBuilder& f, Parameters& p, QuantizedMultiplier m,
                                                     int32_t zero_point) {
    auto out = std::make_shared<Scaler>(p, "out", m);
    size_t zero = p.add("out_zero", zero_point);
    p.load(f);
    return [&f, &p, out, zero](const Ex& product) { return out->emit(f, product) + p[zero]; };
  }

  static std::function<Ex(const Ex&)> emit_even(LoweringBuilder& f, Parameters& p, const OpView& op, ClampI32 clamp) {
    p.load(f);
    return [&f, even = even_product(op, clamp)](const Ex& product) {
      // A product of 40 bits, exact in double: no compiler fuses the sum with a conversion in between.
      Ex exact = cast(DType::kF64, product) * tir::f64(static_cast<double>(even.real));
      Ex y = f.let("y", cast(DType::kF32, exact) + tir::f32(even.zero()));
      Ex q = cast(DType::kI32, emit_nearest_even(tir::clamp(y, tir::f32(even.least()), tir::f32(even.most()))));
      return even.up == 0 ? q : q - even.up;
    };
  }

  static std::function<Ex(const Ex&)> emit_form(LoweringBuilder& f, Parameters& p, const ProductForm& form) {
    size_t multiplier = p.add("multiplier", form.multiplier);
    size_t offset = p.add("offset", form.offset);
    size_t offset_shift = p.add("offset_shift", form.shift - ProductForm::kOffsetBits);
    // In two steps, because a 64-bit shift by a variable is slow; floors compose.
    int whole = std::min(form.shift, 32);
    size_t rest = whole < 32 ? 0 : p.add("shift", form.shift - whole);
    p.load(f);
    Ex bias = f.let("bias", shl_wrapping(cast(DType::kI64, p[offset]), cast(DType::kI64, p[offset_shift])));
    return [&f, &p, bias, multiplier, rest, whole](const Ex& product) {
      Ex sum = bias + cast(DType::kI64, product) * cast(DType::kI64, p[multiplier]);
      Ex high = cast(DType::kI32, sum >> tir::i64(whole));
      return f.let("y", whole < 32 ? high : high >> p[rest]);
    };
  }
};

}  // namespace

void add_operators_mul(OperatorSet& set) { set.add(std::make_unique<Mul>()); }

}  // namespace aotc::ops
