// SPDX-License-Identifier: Apache-2.0
// Arithmetic, comparisons, logic and bits, broadcasting. Small integers are computed as i32 and
// keep their low bits, as numpy has it.
#include <fmt/format.h>

#include <cmath>

#include "frontends/onnx/rules.h"

namespace aotc::frontends::onnx {

Id less_than(Builder& b, Id a, double c) {
  return b.add("less", {a, b.filled(b.dtype(a), c)}, {}, DType::kBool);
}

Id select(Builder& b, Id condition, Id a, Id c) {
  DType type = b.dtype(a);
  DType wide = type == DType::kU16 ? DType::kI32 : type == DType::kU32 ? DType::kI64 : type;
  return b.cast(b.add("select_v2", {condition, b.cast(a, wide), b.cast(c, wide)}, {}, wide), type);
}

namespace elementwise {

namespace {

template <const char* op>
void arithmetic(Call& c) {
  c.out(0, c.b.widened(op, {c.in(0), c.in(1)}));
}

template <const char* op>
void comparison(Call& c) {
  c.out(0, c.b.widened(op, {c.in(0), c.in(1)}, true));
}

// Versions before 7 had an axis to broadcast along; aotc reads none of these.
constexpr char kAdd[] = "add", kSub[] = "sub", kMul[] = "mul", kLess[] = "less",
               kLessEqual[] = "less_equal", kGreater[] = "greater",
               kGreaterEqual[] = "greater_equal", kEqual[] = "equal", kMaximum[] = "maximum",
               kMinimum[] = "minimum", kAnd[] = "logical_and", kOr[] = "logical_or";

// Truncated, as C has it.
void div(Call& c) { c.out(0, c.b.widened("div", {c.in(0), c.in(1)})); }

Id modulo(Builder& b, Id x, Id y, bool truncated) {
  if (!truncated) return b.widened("floor_mod", {x, y});
  // The rest of magnitudes, with the sign of the dividend.
  DType type = b.dtype(x), wide = b.dtype(x) == DType::kF32 ? DType::kF32 : DType::kI64;
  Id p = b.cast(x, wide), q = b.cast(y, wide);
  auto magnitude = [&](Id v) { return b.add("maximum", {v, b.add("neg", {v})}); };
  Id rest = b.add("floor_mod", {magnitude(p), magnitude(q)});
  return b.cast(b.add("select_v2", {less_than(b, p, 0), b.add("neg", {rest}), rest}, {}, wide),
                type);
}

void mod(Call& c) { c.out(0, modulo(c.b, c.in(0), c.in(1), c.i("fmod", 0) != 0)); }

void pow(Call& c) {
  Builder& b = c.b;
  Id x = c.in(0), y = c.in(1);
  DType type = b.dtype(x);
  if (type == DType::kF32) return c.out(0, b.add("pow", {x, b.cast(y, DType::kF32)}));
  if (b.dtype(y) == DType::kF32 || type == DType::kI64)
    return c.out(0, b.cast(b.add("pow", {b.cast(x, DType::kF32), b.cast(y, DType::kF32)}), type));
  c.out(0, b.cast(b.add("pow", {b.cast(x, DType::kI32), b.cast(y, DType::kI32)}), type));
}

template <const char* op>
void variadic(Call& c) {
  Id out = c.in(0);
  for (size_t i = 1; i < c.inputs(); ++i) out = c.b.widened(op, {out, c.in(i)});
  c.out(0, c.inputs() == 1 ? c.in(0) : out);
}

void mean(Call& c) {
  Id out = c.in(0);
  for (size_t i = 1; i < c.inputs(); ++i) out = c.b.binary("add", out, c.in(i));
  c.out(0, c.b.binary("div", out, static_cast<double>(c.inputs())));
}

void where(Call& c) { c.out(0, select(c.b, c.in(0), c.in(1), c.in(2))); }

void logical_xor(Call& c) { c.out(0, c.b.add("not_equal", {c.in(0), c.in(1)}, {}, DType::kBool)); }
void logical_not(Call& c) { c.out(0, c.b.add("logical_not", {c.in(0)})); }

// and = (a + b - xor) / 2, which has room in a type that is wider; 0 where it has none.
Id bits_and(Call& c) {
  Builder& b = c.b;
  DType type = b.dtype(c.in(0));
  if (size_of(type) > 2)
    c.refuse(fmt::format("{} of {}", c.op(), name_of(type)), "use types of at most 16 bits");
  Id x = b.cast(c.in(0), DType::kI32), y = b.cast(c.in(1), DType::kI32);
  Id twice = b.add("sub", {b.add("add", {x, y}), b.add("bitwise_xor", {x, y})});
  return b.add("right_shift", {twice, b.filled_int(DType::kI32, 1)});
}

void bitwise_and(Call& c) { c.out(0, c.b.cast(bits_and(c), c.b.dtype(c.in(0)))); }

void bitwise_or(Call& c) {
  Builder& b = c.b;
  Id both = bits_and(c);
  Id sum = b.add("add", {b.cast(c.in(0), DType::kI32), b.cast(c.in(1), DType::kI32)});
  c.out(0, b.cast(b.add("sub", {sum, both}), b.dtype(c.in(0))));
}

void bitwise_xor(Call& c) { c.out(0, c.b.widened("bitwise_xor", {c.in(0), c.in(1)})); }

void bitwise_not(Call& c) {
  Builder& b = c.b;
  DType type = b.dtype(c.in(0));
  DType wide = size_of(type) < 4 ? DType::kI32 : type == DType::kU32 ? DType::kI64 : type;
  c.out(0, b.cast(b.add("sub", {b.filled_int(wide, -1), b.cast(c.in(0), wide)}), type));
}

void bit_shift(Call& c) {
  Builder& b = c.b;
  Id x = c.in(0), y = c.in(1);
  DType type = b.dtype(x);
  if (size_of(type) > 2)
    c.refuse(fmt::format("{} of {}", c.op(), name_of(type)), "use types of at most 16 bits");
  x = b.cast(x, DType::kI32);
  y = b.cast(y, DType::kI32);
  Id out = c.s("direction", "") == "RIGHT"
               ? b.add("right_shift", {x, y})
               : b.add("mul", {x, b.add("pow", {b.filled_int(DType::kI32, 2), y})});
  c.out(0, b.cast(out, type));
}

void prelu(Call& c) {
  Builder& b = c.b;
  Id x = c.in(0), slope = c.in(1);
  if (b.dtype(x) == DType::kF32) return c.out(0, b.add("prelu", {x, slope}));
  c.out(0, select(b, b.widened("less", {x, b.filled_int(b.dtype(x), 0)}, true),
                  b.widened("mul", {x, slope}), x));
}

// The lower bound goes first: where the bounds are the wrong way round the upper one holds.
void clip(Call& c) {
  Id x = c.in(0);
  if (c.version() < 11) {
    if (c.find("min")) x = c.b.binary("maximum", x, c.f("min", 0));
    if (c.find("max")) x = c.b.binary("minimum", x, c.f("max", 0));
  } else {
    if (c.has(1)) x = c.b.widened("maximum", {x, c.in(1)});
    if (c.has(2)) x = c.b.widened("minimum", {x, c.in(2)});
  }
  c.out(0, x);
}

void cast_to(Call& c, int32_t element_type) {
  std::string powers = c.s("round_mode", "up");
  if (powers != "up" && powers != "down" && powers != "nearest")
    c.refuse(fmt::format("round_mode '{}'", escape_for_display(powers)));
  Narrowing narrowing{c.i("saturate", 1) != 0, powers == "up"     ? ops::PowerRounding::kUp
                                               : powers == "down" ? ops::PowerRounding::kDown
                                                                  : ops::PowerRounding::kNearest};
  c.out(0, c.b.as_element(c.in(0), element_type, narrowing));
}

void cast(Call& c) { cast_to(c, static_cast<int32_t>(c.i("to", 0))); }
void cast_like(Call& c) { cast_to(c, c.b.element(c.in(1))); }

constexpr Rule kRules[] = {
    {"Add", 7, arithmetic<kAdd>},
    {"Sub", 7, arithmetic<kSub>},
    {"Mul", 7, arithmetic<kMul>},
    {"Div", 7, div},
    {"Mod", 10, mod},
    {"Pow", 7, pow},
    {"Less", 7, comparison<kLess>},
    {"LessOrEqual", 12, comparison<kLessEqual>},
    {"Greater", 7, comparison<kGreater>},
    {"GreaterOrEqual", 12, comparison<kGreaterEqual>},
    {"Equal", 7, comparison<kEqual>},
    {"Max", 6, variadic<kMaximum>},
    {"Min", 6, variadic<kMinimum>},
    {"Sum", 6, variadic<kAdd>},
    {"Mean", 6, mean},
    {"And", 7, arithmetic<kAnd>},
    {"Or", 7, arithmetic<kOr>},
    {"Xor", 7, logical_xor},
    {"Not", 1, logical_not},
    {"BitwiseAnd", 18, bitwise_and},
    {"BitwiseOr", 18, bitwise_or},
    {"BitwiseXor", 18, bitwise_xor},
    {"BitwiseNot", 18, bitwise_not},
    {"BitShift", 11, bit_shift},
    {"Where", 9, where},
    {"PRelu", 7, prelu},
    {"Clip", 6, clip},
    {"Cast", 6, cast},
    {"CastLike", 15, cast_like},
};

}  // namespace

}  // namespace elementwise

std::span<const Rule> elementwise_rules() { return elementwise::kRules; }

}  // namespace aotc::frontends::onnx
