// SPDX-License-Identifier: Apache-2.0
// Real functions of one number. Of int8 they are tables, which the reference makes of the float32
// function: dequantised, applied, multiplied by the inverse scale and rounded.
#include <algorithm>
#include <cmath>
#include <memory>

#include "ops/common/elementwise.h"
#include "ops/common/real_table.h"
#include "ops/elementwise/attributes.h"
#include "ops/elementwise/table.h"

namespace aotc::ops::elementwise {

namespace {

using tir::Ex;
using tir::f32;
using tir::Intrinsic;

using Expression = Ex (*)(const Element&);

template <Intrinsic function>
Ex of(const Element& e) {
  return call(function, e.type(), {e[0]});
}

Ex square(const Element& e) { return e[0] * e[0]; }

Ex inverse_root(const Element& e) { return f32(1.0f) / of<Intrinsic::kSqrt>(e); }

Ex elu(const Element& e) { return select(e[0] < f32(0.0f), of<Intrinsic::kExpm1>(e), e[0]); }

// The table of int8 is made with exp.
Ex elu_of_table(const Element& e) { return select(e[0] < f32(0.0f), of<Intrinsic::kExp>(e) - f32(1.0f), e[0]); }

// The smallest stored value where there is no logarithm.
Ex log_of_table(const Element& e) {
  const graph::TensorType& out = e.op.result();
  float least = static_cast<float>(-128 - out.zero_point()) * out.scale();
  return select(e[0] <= f32(0.0f), f32(least), of<Intrinsic::kLog>(e));
}

// ---------------------------------------------------------------- gelu

constexpr double kRootOfHalf = 0.70710678118654752440;
constexpr double kTwoByRootOfPi = 1.12837916709551257390;

// `cube` is 0.044715 x^3, in the order of operations that is wanted.
Ex gelu(const Element& e, const Ex& cube) {
  const Ex& x = e[0];
  Ex half = f32(0.5f) * x;
  if (!e.op.attrs<GeluAttrs>().approximate) {
    Ex scaled = x * f32(static_cast<float>(-kRootOfHalf));
    return half * call(Intrinsic::kErfc, DType::kF32, {scaled});
  }
  Ex inner = f32(static_cast<float>(kTwoByRootOfPi * kRootOfHalf)) * (x + cube);
  return half * (f32(1.0f) + call(Intrinsic::kTanh, DType::kF32, {inner}));
}

Ex gelu_of_float(const Element& e) { return gelu(e, f32(0.044715f) * (e[0] * e[0] * e[0])); }
Ex gelu_of_table(const Element& e) { return gelu(e, f32(0.044715f) * e[0] * e[0] * e[0]); }

std::shared_ptr<graph::AttributesBase> gelu_attributes() { return std::make_shared<GeluAttrs>(); }

// ---------------------------------------------------------------- tables of bytes

// The expression at every x, on the host.
std::vector<float> values_of(const OpView& op, Expression expression, std::vector<float> x) {
  auto count = static_cast<int64_t>(x.size());
  tir::FunctionBuilder f("table");
  tir::BufferPtr in = f.input("in", DType::kF32, count), out = f.output("out", DType::kF32, count);
  f.loop("i", 0, count, [&](Ex i) {
    std::vector<Ex> loaded = {f.let("x", load(in, i))};
    f.store(out, i, expression(Element{op, f, loaded}));
  });
  std::vector<float> y(x.size());
  auto bytes = [](std::vector<float>& v) {
    return tir::Memory{reinterpret_cast<uint8_t*>(v.data()), static_cast<int64_t>(v.size() * sizeof(float))};
  };
  Diagnostics diags;
  (void)tir::interpret(*f.finish(), {bytes(x), bytes(y)}, diags);
  return y;
}

template <Expression expression>
ByteFunction table(const OpView& op) {
  const graph::TensorType &from = op.operand(0), &to = op.result();
  IntRange range = int_range(from.dtype);
  std::vector<float> x;
  for (int64_t q = range.min; q <= range.max; ++q)
    x.push_back(from.scale() * static_cast<float>(q - from.zero_point()));
  auto y = std::make_shared<std::vector<float>>(values_of(op, expression, x));
  float inverse = 1.0f / to.scale();
  auto zero = static_cast<float>(to.zero_point());
  return [=](int64_t q) {
    // Every step in float32, rounded on its own.
    float scaled = (*y)[static_cast<size_t>(q - range.min)] * inverse;
    float stored = std::round(scaled) + zero;
    return static_cast<int64_t>(std::clamp(stored, static_cast<float>(range.min), static_cast<float>(range.max)));
  };
}

bool verify_inverse(const OpView& op, Diagnostics& diags) {
  return !carries_scale(op.operand(0).dtype) || check_inverse_scale(op, diags);
}

Row real(std::string_view name, std::string_view summary, Expression expression) {
  Row r{name, summary, 1, {DType::kF32}, expression};
  r.libm = true;
  return r;
}

Row real_or_byte(std::string_view name, std::string_view summary, Expression expression,
                 ByteFunction (*bytes)(const OpView&)) {
  Row r = real(name, summary, expression);
  r.types = {DType::kI8, DType::kF32};
  r.stored = Stored::kQuantized;
  r.bytes = bytes;
  r.verify = verify_inverse;
  return r;
}

Row gelu_row() {
  Row r = real_or_byte("gelu", "x times the normal distribution of x", gelu_of_float, table<gelu_of_table>);
  r.types = {DType::kI8, DType::kU8, DType::kF32};
  r.attributes = gelu_attributes;
  return r;
}

// ---------------------------------------------------------------- roots of bytes

// The reference's 1 / sqrt(value) for whole numbers above 1, as a multiplier and a shift: Newton's
// method in fixed point.
QuantizedMultiplier inverse_root_multiplier(int32_t value) {
  if (value <= 1) return {std::numeric_limits<int32_t>::max(), 0};
  auto high_mul = saturating_rounding_doubling_high_mul;
  auto shifted_left = [](int32_t x, int bits) {
    return static_cast<int32_t>(std::clamp<int64_t>(static_cast<int64_t>(x) * (1 << bits), INT32_MIN, INT32_MAX));
  };
  int zeros = 0;
  while ((static_cast<uint32_t>(value) << zeros) < 0x80000000u) ++zeros;
  int pairs = (zeros - 1) / 2 - 1;
  int shift = 11 - pairs;
  int32_t input = (value << (2 * pairs)) >> 1;
  int32_t half_input = rounding_divide_by_pot(input, 1);
  const int32_t half_three = (1 << 28) + (1 << 27);
  int32_t x = 1 << 28;
  for (int i = 0; i < 5; ++i) {
    int32_t cube = shifted_left(high_mul(high_mul(x, x), x), 6);
    x = shifted_left(high_mul(half_three, x) - high_mul(half_input, cube), 3);
  }
  x = high_mul(x, 1518500250);
  if (shift < 0) return {x << -shift, 0};
  return {x, -shift};
}

int64_t inverse_root_byte(const OpView& op, int64_t value) {
  if (value == 0) return 127;
  float product = std::sqrt(op.operand(0).scale()) * op.result().scale();
  QuantizedMultiplier out = quantize_multiplier(1.0 / static_cast<double>(product));
  constexpr int kShift = 20;
  QuantizedMultiplier root = inverse_root_multiplier(static_cast<int32_t>(value));
  root.shift += kShift;
  out.shift -= kShift;
  int64_t y = multiply_by_quantized_multiplier(multiply_by_quantized_multiplier(1, root), out);
  return std::clamp<int64_t>(y + op.result().zero_point(), -128, 127);
}

// Truncates where others round.
int64_t root_byte(const OpView& op, int64_t value) {
  float real = op.operand(0).scale() * static_cast<float>(value);
  float quotient = std::sqrt(real) / op.result().scale();
  double stored = std::trunc(static_cast<double>(quotient)) + op.result().zero_point();
  return static_cast<int64_t>(std::clamp(stored, -128.0, 127.0));
}

// A table of the values from the zero point on; below it the function fails, as the reference does.
template <int64_t (*function)(const OpView&, int64_t)>
Quantized table_of_positive(const OpView& op, LoweringBuilder& f, Parameters&) {
  int32_t zero = op.operand(0).zero_point();
  std::vector<int8_t> values;
  for (int64_t q = zero; q <= 127; ++q) values.push_back(static_cast<int8_t>(function(op, q - zero)));
  tir::BufferPtr table = f.constant("table", DType::kI8, values, 1);
  return {{}, [=](const Element& e) {
            if (zero > -128) e.f.if_(e[0] < zero, [&] { e.f.fail(); });
            return load(table, e[0] - zero);
          }};
}

bool verify_rsqrt(const OpView& op, Diagnostics& diags) {
  if (!carries_scale(op.operand(0).dtype)) return true;
  float product = std::sqrt(op.operand(0).scale()) * op.result().scale();
  // The first multiplication is of numbers up to 2^20.
  return check_multiplier(op, 1.0 / static_cast<double>(product), 1, diags);
}

Row root_row(std::string_view name, std::string_view summary, Expression expression,
             Quantized (*quantized)(const OpView&, LoweringBuilder&, Parameters&)) {
  Row r{name, summary, 1, {DType::kI8, DType::kF32}, expression};
  r.stored = Stored::kQuantized;
  r.note = "fails below 0";
  r.fails = true;
  r.quantized = quantized;
  return r;
}

Ex angle(const Element& e) { return call(Intrinsic::kAtan2, e.type(), {e[0], e[1]}); }

Row atan2_row() {
  Row r{"atan2", "angle of the point (b, a), broadcasting", 2, {DType::kF32}, angle};
  r.libm = true;
  return r;
}

Row rsqrt_row() {
  Row r = root_row("rsqrt", "1 / square root of x", inverse_root, table_of_positive<inverse_root_byte>);
  r.verify = verify_rsqrt;
  return r;
}

}  // namespace

std::span<const Row> function_rows() {
  static const Row rows[] = {
      real_or_byte("exp", "e to the power of x", of<Intrinsic::kExp>, table<of<Intrinsic::kExp>>),
      real_or_byte("log", "natural logarithm", of<Intrinsic::kLog>, table<log_of_table>),
      real("sin", "sine", of<Intrinsic::kSin>),
      real("cos", "cosine", of<Intrinsic::kCos>),
      real_or_byte("elu", "x if x > 0, else e^x - 1", elu, table<elu_of_table>),
      gelu_row(),
      real("erf", "error function", of<Intrinsic::kErf>),
      atan2_row(),
      {"square", "x * x", 1, {DType::kF32}, square},
      root_row("sqrt", "square root", of<Intrinsic::kSqrt>, table_of_positive<root_byte>),
      rsqrt_row(),
  };
  return rows;
}

}  // namespace aotc::ops::elementwise
