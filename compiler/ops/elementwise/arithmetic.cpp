// SPDX-License-Identifier: Apache-2.0
// Arithmetic that keeps its operands' type. Integers wrap around, as the reference's do on the
// machines it runs on.
#include <algorithm>
#include <cmath>

#include "ops/common/activation.h"
#include "ops/common/checks.h"
#include "ops/common/elementwise.h"
#include "ops/elementwise/attributes.h"
#include "ops/elementwise/table.h"

namespace aotc::ops::elementwise {

namespace {

using tir::Ex;

Ex zero_of(const Element& e) { return tir::imm(e.type(), 0); }

Ex negated(const Element& e) {
  if (is_float(e.type())) return -e[0];
  Ex value = sub_wrapping(zero_of(e), e[0]);
  DType stored = e.op.result().dtype;
  return tir::promoted(stored) == stored ? value : cast_wrapping(stored, value);
}

// Stored values are negated whatever their zero point is.
bool verify_neg(const OpView& op, Diagnostics& diags) {
  const std::vector<int64_t>& zeros = op.operand(0).quantization.zero_point;
  if (std::all_of(zeros.begin(), zeros.end(), [](int64_t z) { return z == 0; })) return true;
  diags
      .error(op.where(), "op-quantization",
             "neg of a tensor whose zero point is not 0; the reference negates stored values")
      .help("quantise the tensor symmetrically");
  return false;
}

Ex absolute(const Element& e) {
  if (is_float(e.type())) return call(tir::Intrinsic::kAbs, e.type(), {e[0]});
  return select(e[0] < zero_of(e), sub_wrapping(zero_of(e), e[0]), e[0]);
}

// A quotient in float32, as the reference has it.
double abs_multiplier(const OpView& op) {
  float quotient = op.operand(0).scale() / op.result().scale();
  return static_cast<double>(quotient);
}

bool verify_abs(const OpView& op, Diagnostics& diags) {
  return !is_byte(op.operand(0).dtype) || check_multiplier(op, abs_multiplier(op), 255, diags);
}

ByteFunction absolute_byte(const OpView& op) {
  QuantizedMultiplier m = quantize_multiplier(abs_multiplier(op));
  bool rescale = op.operand(0).scale() != op.result().scale();
  int64_t zero_in = op.operand(0).zero_point(), zero_out = op.result().zero_point();
  return [=](int64_t x) -> int64_t {
    auto value = static_cast<int32_t>(std::abs(x - zero_in));
    if (rescale) value = multiply_by_quantized_multiplier(value, m);
    return std::clamp<int64_t>(value + zero_out, -128, 127);
  };
}

Row neg_row() {
  Row r{"neg", "-x", 1, {DType::kI8, DType::kI16, DType::kI32, DType::kI64, DType::kF32}, negated};
  r.stored = Stored::kCopied;
  r.note = "one quantisation, zero point 0";
  r.verify = verify_neg;
  return r;
}

Row abs_row() {
  Row r{"abs", "|x|", 1, {DType::kI8, DType::kI32, DType::kF32}, absolute};
  r.stored = Stored::kQuantized;
  r.bytes = absolute_byte;
  r.verify = verify_abs;
  return r;
}

// What is not a number stays that, and where neither is greater it is the second, as with maximum and minimum.
Ex larger(const Element& e) { return select((e[0] > e[1]) || (e[0] != e[0]), e[0], e[1]); }
Ex smaller(const Element& e) { return select((e[0] < e[1]) || (e[0] != e[0]), e[0], e[1]); }

// Where the bounds are the wrong way round the upper one holds.
Ex bounded(const Element& e) {
  const auto& attrs = e.op.attrs<BoundedAttrs>();
  return min(tir::f32(attrs.high), e.f.let("above", max(tir::f32(attrs.low), e[0])));
}

Row bounded_row() {
  Row r{"bounded", "x, but not below `low` and not above `high`", 1, {DType::kF32}, bounded};
  r.attributes = []() -> std::shared_ptr<graph::AttributesBase> { return std::make_shared<BoundedAttrs>(); };
  r.verify = [](const OpView& op, Diagnostics& diags) {
    const auto& attrs = op.attrs<BoundedAttrs>();
    if (std::isfinite(attrs.low) && std::isfinite(attrs.high)) return true;
    bad_attribute(op, diags, "a bound is not finite");
    return false;
  };
  r.activation = [](const OpView& op) -> std::optional<Activation> {
    const auto& attrs = op.attrs<BoundedAttrs>();
    for (Activation a : {Activation::kRelu, Activation::kRelu6, Activation::kReluN1To1})
      if (float_clamp(a).min == attrs.low && float_clamp(a).max == attrs.high) return a;
    return std::nullopt;
  };
  return r;
}

}  // namespace

std::span<const Row> arithmetic_rows() {
  static const Row rows[] = {
      neg_row(),
      abs_row(),
      bounded_row(),
      {"maximum_nan", "larger of two, or what is not a number; broadcasting", 2, {DType::kF32}, larger},
      {"minimum_nan", "smaller of two, or what is not a number; broadcasting", 2, {DType::kF32}, smaller},
  };
  return rows;
}

}  // namespace aotc::ops::elementwise
