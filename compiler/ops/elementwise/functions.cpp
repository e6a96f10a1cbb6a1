// SPDX-License-Identifier: Apache-2.0
// Real functions of one number. Of int8 they are tables, which the reference makes of the float32
// function: dequantised, applied, multiplied by the inverse scale and rounded.
#include <algorithm>
#include <cmath>
#include <memory>

#include "ops/common/real_table.h"
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

// The smallest stored value where there is no logarithm.
Ex log_of_table(const Element& e) {
  const graph::TensorType& out = e.op.result();
  float least = static_cast<float>(-128 - out.zero_point()) * out.scale();
  return select(e[0] <= f32(0.0f), f32(least), of<Intrinsic::kLog>(e));
}

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
    return tir::Memory{reinterpret_cast<uint8_t*>(v.data()),
                       static_cast<int64_t>(v.size() * sizeof(float))};
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
    return static_cast<int64_t>(
        std::clamp(stored, static_cast<float>(range.min), static_cast<float>(range.max)));
  };
}

bool verify_inverse(const OpView& op, Diagnostics& diags) {
  return !carries_scale(op.operand(0).dtype) || check_inverse_scale(op, diags);
}

Row real(std::string_view name, std::string_view summary, int builtin, Expression expression) {
  Row r{name, summary, builtin, 1, {DType::kF32}, expression};
  r.libm = true;
  return r;
}

Row real_or_byte(std::string_view name, std::string_view summary, int builtin,
                 Expression expression, ByteFunction (*bytes)(const OpView&)) {
  Row r = real(name, summary, builtin, expression);
  r.types = {DType::kI8, DType::kF32};
  r.stored = Stored::kQuantized;
  r.bytes = bytes;
  r.verify = verify_inverse;
  return r;
}

}  // namespace

std::span<const Row> function_rows() {
  static const Row rows[] = {
      real_or_byte("exp", "e to the power of x", 47, of<Intrinsic::kExp>,
                   table<of<Intrinsic::kExp>>),
      real_or_byte("log", "natural logarithm", 73, of<Intrinsic::kLog>, table<log_of_table>),
      real("sin", "sine", 66, of<Intrinsic::kSin>),
      real("cos", "cosine", 108, of<Intrinsic::kCos>),
      {"square", "x * x", 92, 1, {DType::kF32}, square},
      {"sqrt", "square root", 75, 1, {DType::kF32}, of<Intrinsic::kSqrt>},
      {"rsqrt", "1 / square root of x", 76, 1, {DType::kF32}, inverse_root},
  };
  return rows;
}

}  // namespace aotc::ops::elementwise
