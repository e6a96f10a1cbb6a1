// SPDX-License-Identifier: Apache-2.0
// Powers, squared differences, and activations with a slope or a bound of their own.
#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/elementwise.h"
#include "ops/elementwise/table.h"

namespace aotc::ops::elementwise {

namespace {

using tir::Ex;

// ---------------------------------------------------------------- pow

// Of integers the low bits of the product, one factor for each bit of the exponent; the reference
// goes through double, and what it gives beyond 32 bits is undefined. It stops at exponents below 0.
Ex power(const Element& e) {
  if (is_float(e.type())) return call(tir::Intrinsic::kPow, e.type(), {e[0], e[1]});
  tir::FunctionBuilder& f = e.f;
  f.if_(e[1] < 0, [&] { f.fail(); });
  Ex result = f.var("y", Ex(1)), factor = f.var("factor", e[0]), left = f.var("left", e[1]);
  f.loop("bit", 0, 31, [&](const Ex&) {
    f.if_((left & 1) != 0, [&] { f.assign(result, mul_wrapping(result, factor)); });
    f.assign(factor, mul_wrapping(factor, factor));
    f.assign(left, left >> 1);
  });
  return result;
}

bool verify_pow(const OpView& op, Diagnostics& diags) {
  const graph::ConstantView* exponent = op.constant(1);
  if (op.operand(0).dtype != DType::kI32 || exponent == nullptr) return true;
  for (int64_t v : widen(DType::kI32, exponent->bytes))
    if (v < 0) return bad_attribute(op, diags, "pow of integers with a constant exponent below 0");
  return true;
}

// ---------------------------------------------------------------- squared_difference

Ex squared_difference(const Element& e) {
  if (is_float(e.type())) {
    Ex d = e.f.let("d", e[0] - e[1]);
    return d * d;
  }
  Ex d = e.f.let("d", sub_wrapping(e[0], e[1]));
  return mul_wrapping(d, d);
}

// Bits that operands are shifted left by before they are brought to a common scale.
constexpr int kPowerHeadroom = 7;

// Both operands go to 2^7 times a common scale, twice the larger of theirs.
struct SquareScales {
  double in[2], out;

  explicit SquareScales(const OpView& op) {
    double twice = static_cast<double>(2.0f * std::max(op.operand(0).scale(), op.operand(1).scale()));
    for (size_t i = 0; i < 2; ++i) in[i] = static_cast<double>(op.operand(i).scale()) / twice;
    float below = static_cast<float>(1 << (2 * kPowerHeadroom)) * op.result().scale();
    out = twice * twice / static_cast<double>(below);
  }
};

bool verify_squares(const OpView& op, Diagnostics& diags) {
  if (!is_byte(op.operand(0).dtype)) return true;
  double out = SquareScales(op).out;
  if (std::isfinite(out) && quantize_multiplier(out).shift <= 0) return true;
  diags
      .error(op.where(), "op-quantization",
             fmt::format("result scale {:g} of {} is too small for operands of scale {:g} and {:g}",
                         op.result().scale(), op.op.name(), op.operand(0).scale(), op.operand(1).scale()))
      .help("re-quantise the model; the result's range does not hold the square of a difference");
  return false;
}

Quantized quantized_squares(const OpView& op, LoweringBuilder& f, Parameters& p) {
  SquareScales scales(op);
  auto scalers = std::make_shared<std::vector<Scaler>>();
  auto zeros = std::make_shared<std::vector<size_t>>();
  for (size_t i = 0; i < 2; ++i) {
    zeros->push_back(p.add(i == 0 ? "a_zero" : "b_zero", op.operand(i).zero_point()));
    scalers->emplace_back(p, i == 0 ? "a" : "b", quantize_multiplier(scales.in[i]), kPowerHeadroom);
  }
  scalers->emplace_back(p, "out", quantize_multiplier(scales.out));
  size_t zero = p.add("out_zero", op.result().zero_point());
  return {[=, &f, &p](size_t i, const Ex& x) { return (*scalers)[i].emit(f, f.let("d", x - p[(*zeros)[i]])); },
          [=, &f, &p](const Element& e) {
            Ex d = f.let("d", e[0] - e[1]);
            return emit_bound((*scalers)[2].emit(f, f.let("square", d * d)) + p[zero], {-128, 127});
          }};
}

// ---------------------------------------------------------------- prelu

Ex prelu(const Element& e) { return select(e[0] >= tir::f32(0.0f), e[0], e[0] * e[1]); }

// Multipliers of values from 0 on, and of products with alpha below; in float32.
struct Slopes {
  double above, below;

  explicit Slopes(const OpView& op) {
    float in = op.operand(0).scale(), out = op.result().scale();
    above = static_cast<double>(in / out);
    below = static_cast<double>(in * op.operand(1).scale() / out);
  }
};

bool verify_prelu(const OpView& op, Diagnostics& diags) {
  if (op.operand(0).shape != op.result().shape)
    return bad_shape(op, diags, "the alpha of prelu must broadcast to its operand's shape");
  if (!is_byte(op.operand(0).dtype)) return true;
  Slopes slopes(op);
  return check_multiplier(op, slopes.above, 255, diags) && check_multiplier(op, slopes.below, 255 * 255, diags);
}

Quantized quantized_prelu(const OpView& op, LoweringBuilder& f, Parameters& p) {
  Slopes slopes(op);
  size_t zero_x = p.add("x_zero", op.operand(0).zero_point());
  size_t zero_alpha = p.add("alpha_zero", op.operand(1).zero_point());
  auto above = std::make_shared<Scaler>(p, "above", quantize_multiplier(slopes.above));
  auto below = std::make_shared<Scaler>(p, "below", quantize_multiplier(slopes.below));
  size_t zero = p.add("out_zero", op.result().zero_point());
  IntRange range = int_range(op.result().dtype);
  ClampI32 clamp{static_cast<int32_t>(range.min), static_cast<int32_t>(range.max)};
  return {
      [=, &f, &p](size_t i, const Ex& x) { return f.let(i == 0 ? "x" : "alpha", x - p[i == 0 ? zero_x : zero_alpha]); },
      [=, &f, &p](const Element& e) {
        Ex y = f.var("scaled", Ex(0));
        f.if_(
            e[0] >= 0, [&] { f.assign(y, above->emit(f, e[0])); },
            [&] { f.assign(y, below->emit(f, f.let("product", e[0] * e[1]))); });
        return emit_bound(y + p[zero], clamp);
      }};
}

// ---------------------------------------------------------------- relu_0_to_1, bits

// Bounds as comparisons, so that NaN passes.
Ex between_0_and_1(const Element& e) { return emit_clamp(e[0], {0.0f, 1.0f}); }

double relu_multiplier(const OpView& op) {
  float quotient = op.operand(0).scale() / op.result().scale();
  return static_cast<double>(quotient);
}

bool verify_relu(const OpView& op, Diagnostics& diags) {
  return !is_byte(op.operand(0).dtype) || check_multiplier(op, relu_multiplier(op), 255, diags);
}

ByteFunction relu_byte(const OpView& op) {
  QuantizedMultiplier m = quantize_multiplier(relu_multiplier(op));
  IntRange range = int_range(op.result().dtype);
  int64_t zero_in = op.operand(0).zero_point(), zero_out = op.result().zero_point();
  double one = static_cast<double>(std::round(1.0f / op.result().scale()));
  int64_t most = static_cast<int64_t>(std::min(static_cast<double>(range.max - zero_out), one)) + zero_out;
  return [=](int64_t x) -> int64_t {
    int64_t y = multiply_by_quantized_multiplier(static_cast<int32_t>(x - zero_in), m) + zero_out;
    return std::min(std::max(y, std::max(zero_out, range.min)), most);
  };
}

// Amounts outside of the type's width are the nearest inside.
Ex shifted_right(const Element& e) {
  int width = size_of(e.op.result().dtype) * 8;
  return e[0] >> tir::clamp(e[1], 0, width - 1);
}

Row quantized_row(Row r, Quantized (*quantized)(const OpView&, LoweringBuilder&, Parameters&),
                  bool (*verify)(const OpView&, Diagnostics&)) {
  r.stored = Stored::kQuantized;
  r.quantized = quantized;
  r.verify = verify;
  return r;
}

Row pow_row() {
  Row r{"pow", "a to the power of b, broadcasting", 2, {DType::kI32, DType::kF32}, power};
  r.libm = true;
  r.verify = verify_pow;
  r.fails = true;
  return r;
}

Row relu_0_to_1_row() {
  Row r{"relu_0_to_1", "x clamped to 0 .. 1", 1, {DType::kI8, DType::kU8, DType::kF32}, between_0_and_1};
  r.stored = Stored::kQuantized;
  r.bytes = relu_byte;
  r.verify = verify_relu;
  return r;
}

}  // namespace

std::span<const Row> power_rows() {
  static const Row rows[] = {
      pow_row(),
      quantized_row({"squared_difference",
                     "(a - b)^2, broadcasting",
                     2,
                     {DType::kI8, DType::kI32, DType::kF32},
                     squared_difference},
                    quantized_squares, verify_squares),
      quantized_row(
          {"prelu", "x if x >= 0, else alpha * x; alpha broadcasts", 2, {DType::kI8, DType::kU8, DType::kF32}, prelu},
          quantized_prelu, verify_prelu),
      relu_0_to_1_row(),
      {"bitwise_xor",
       "bits that differ, broadcasting",
       2,
       {DType::kI8, DType::kU8, DType::kI16, DType::kI32},
       [](const Element& e) { return e[0] ^ e[1]; }},
      {"right_shift",
       "a / 2^b rounded down, broadcasting",
       2,
       {DType::kI8, DType::kU8, DType::kI16, DType::kI32},
       shifted_right},
  };
  return rows;
}

}  // namespace aotc::ops::elementwise
