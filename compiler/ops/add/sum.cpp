// SPDX-License-Identifier: Apache-2.0
#include "ops/add/sum.h"

#include <cmath>

#include "ops/common/binary.h"
#include "ops/common/known_fits.h"
#include "ops/common/pair_budget.h"
#include "ops/common/requantize.h"

namespace aotc::ops {

using tir::Ex;

Sum::Sum(const OpView& op) : headroom(op.operand(0).dtype == DType::kI16 ? 15 : 20) {
  float twice = 2.0f * std::max(op.operand(0).scale(), op.operand(1).scale());
  for (size_t i = 0; i < 2; ++i) {
    zero[i] = op.operand(i).zero_point();
    in_real[i] = static_cast<double>(op.operand(i).scale()) / static_cast<double>(twice);
  }
  float out_scale = static_cast<float>(1 << headroom) * op.result().scale();
  out_real = static_cast<double>(twice) / static_cast<double>(out_scale);
  if (!std::isfinite(out_real)) return;
  for (size_t i = 0; i < 2; ++i) in[i] = quantize_multiplier(in_real[i]);
  out = quantize_multiplier(out_real);
  zero_out = op.result().zero_point();
  clamp = quantized_clamp(op.attrs<BinaryAttrs>().activation, op.result());
}

FloatSum::FloatSum(const OpView& op) : up(model_offset(op.attrs<BinaryAttrs>().rounding)) {
  std::array<float, 2> zero;
  for (size_t i = 0; i < 2; ++i) {
    ratio[i] = op.operand(i).scale() / op.result().scale();
    zero[i] = static_cast<float>(op.operand(i).zero_point() + up);
  }
  fixed = static_cast<float>(op.result().zero_point() + up) - std::fma(ratio[0], zero[0], ratio[1] * zero[1]);
  clamp = quantized_clamp(op.attrs<BinaryAttrs>().activation, op.result());
}

float FloatSum::part(int64_t b) const { return std::fma(static_cast<float>(b + up), ratio[1], fixed); }

int64_t FloatSum::operator()(int64_t a, int64_t b) const {
  float sum = std::fma(static_cast<float>(a + up), ratio[0], part(b));
  sum = std::clamp(sum, least(), most());
  return static_cast<int64_t>(std::nearbyint(sum)) - up;
}

Lowered SumLowering::run() {
  bool bytes = op_.operand(0).dtype == DType::kI8;
  if (auto form = bytes ? affine() : std::nullopt) {
    auto by_kernel = run_kernel(*form);
    return by_kernel ? std::move(*by_kernel) : run_affine(*form);
  }
  if (op_.attrs<BinaryAttrs>().rounding != PairRounding::kLitert) return run_float();
  std::array<tir::BufferPtr, 2> in = {f_.operand(0), f_.operand(1)};
  std::array<size_t, 2> zero;
  std::array<std::optional<Scaler>, 2> scaler;
  for (size_t i = 0; i < 2; ++i) {
    zero[i] = p_.add(i == 0 ? "a_zero" : "b_zero", sum_.zero[i]);
    if (!sum_.only_shifts(i)) scaler[i].emplace(p_, i == 0 ? "a" : "b", sum_.in[i], sum_.headroom);
  }
  Scaler out(p_, "out", sum_.out);
  size_t zero_out = p_.add("out_zero", sum_.zero_out);
  p_.load(f_);
  tir::BufferPtr result = f_.result();
  // Two operands that only shift are added first and shifted once.
  bool shift_sum = !scaler[0] && !scaler[1];
  Broadcast nest(op_);
  nest.emit(
      f_, result,
      [&](size_t i, const Ex& index) {
        Ex d = f_.let(i == 0 ? "a" : "b", load(in[i], index) - p_[zero[i]]);
        if (shift_sum) return d;
        return scaler[i] ? scaler[i]->emit(f_, d) : f_.let("y", d * (1 << (sum_.headroom - 1)));
      },
      [&](const std::vector<Ex>& v) {
        Ex sum = subtract_ ? v[0] - v[1] : v[0] + v[1];
        if (shift_sum) sum = sum * (1 << (sum_.headroom - 1));
        return emit_bound(out.emit(f_, f_.let("sum", sum)) + p_[zero_out], sum_.clamp);
      });
  publish_in_place(f_, op_);
  return f_.finish(shift_sum ? "fixed point, equal scales" : "fixed point");
}

// A product of 8 and 24 bits is exact in double, and the sum is rounded once on its way to float32.
Lowered SumLowering::run_float() {
  std::array<tir::BufferPtr, 2> in = {f_.operand(0), f_.operand(1)};
  const FloatSum sum(op_);
  std::vector<float> parts;  // by the stored byte
  for (int b = 0; b < 256; ++b) parts.push_back(sum.part(static_cast<int8_t>(b)));
  tir::BufferPtr table = f_.constant("parts", DType::kF32, parts);
  tir::BufferPtr ratio = f_.constant<float>("ratio", DType::kF32, {sum.ratio[0]});
  Ex scale = f_.let("scale", cast(DType::kF64, load(ratio, Ex(0))));
  tir::BufferPtr result = f_.result();
  Broadcast(op_).emit(
      f_, result, [&](size_t i, const Ex& index) { return f_.let(i == 0 ? "a" : "b", load(in[i], index)); },
      [&](const std::vector<Ex>& v) {
        Ex part = load(table, cast(DType::kI32, cast_wrapping(DType::kU8, v[1])));
        Ex y = f_.let("y", cast(DType::kF32, cast(DType::kF64, sum.up == 0 ? v[0] : v[0] + sum.up) * scale +
                                                 cast(DType::kF64, part)));
        Ex q = cast(DType::kI32, emit_nearest_even(clamp(y, tir::f32(sum.least()), tir::f32(sum.most()))));
        return sum.up == 0 ? q : q - sum.up;
      });
  publish_in_place(f_, op_);
  return f_.finish("float, ties to even");
}

std::vector<int8_t> SumLowering::wanted() const {
  std::vector<int8_t> wanted(65536);
  int8_t* to = wanted.data();
  if (op_.attrs<BinaryAttrs>().rounding != PairRounding::kLitert) {
    const FloatSum sum(op_);
    for (int64_t a = -128; a < 128; ++a)
      for (int64_t b = -128; b < 128; ++b) *to++ = static_cast<int8_t>(sum(a, b));
    return wanted;
  }
  std::array<std::array<int32_t, 256>, 2> scaled;
  for (size_t i = 0; i < 2; ++i)
    for (size_t q = 0; q < 256; ++q) scaled[i][q] = sum_.operand(i, static_cast<int64_t>(q) - 128);
  const RoundedTwice result(sum_.out, sum_.zero_out, sum_.clamp);
  for (int64_t a : scaled[0])
    for (int64_t b : scaled[1]) *to++ = static_cast<int8_t>(result(subtract_ ? a - b : a + b));
  return wanted;
}

std::optional<AffineForm> SumLowering::affine() const {
  if (!PairBudget::any()) return std::nullopt;
  PairBudget::spend(65536);
  std::array<double, 2> slope;
  double constant = sum_.zero_out;
  for (size_t i = 0; i < 2; ++i) {
    double ratio = static_cast<double>(op_.operand(i).scale()) / static_cast<double>(op_.result().scale());
    slope[i] = subtract_ && i == 1 ? -ratio : ratio;
    constant -= slope[i] * sum_.zero[i];
  }
  auto prove = [&]() -> std::optional<KnownFits::Form> {
    auto form = fit_affine(wanted(), slope, constant, sum_.clamp);
    if (!form) return std::nullopt;
    return KnownFits::Form{form->weight[0], form->weight[1], form->offset, form->shift, form->least, form->most};
  };
  const auto function = subtract_ ? KnownFits::Function::kDifference : KnownFits::Function::kSum;
  auto known = KnownFits::find(KnownFits::key_of(op_, function, sum_.clamp), prove);
  if (!known) return std::nullopt;
  const auto [a, b, offset, shift, least, most] = *known;
  return AffineForm{{a, b}, offset, shift, least, most};
}

Lowered SumLowering::run_affine(const AffineForm& form) {
  std::array<tir::BufferPtr, 2> in = {f_.operand(0), f_.operand(1)};
  std::array<size_t, 2> weight = {p_.add("a_weight", form.weight[0]), p_.add("b_weight", form.weight[1])};
  size_t offset = p_.add("offset", form.offset);
  size_t shift = p_.add("shift", form.shift);
  p_.load(f_);
  tir::BufferPtr result = f_.result();
  Broadcast(op_).emit(
      f_, result,
      [&](size_t i, const Ex& index) { return f_.let(i == 0 ? "a" : "b", load(in[i], index) * p_[weight[i]]); },
      [&](const std::vector<Ex>& v) {
        Ex y = f_.let("y", (v[0] + p_[offset] + v[1]) >> p_[shift]);
        return emit_bound(y, sum_.clamp, form.least, form.most);
      });
  publish_in_place(f_, op_);
  return f_.finish("weighted sum in 32 bits, proven equal for all pairs");
}

}  // namespace aotc::ops
