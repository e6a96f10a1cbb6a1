// SPDX-License-Identifier: Apache-2.0
// Arithmetic, comparisons, logic and bits, broadcasting. Small integers are computed as i32 and
// keep their low bits, as numpy has it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "frontends/onnx/rules.h"

namespace aotc::frontends::onnx {

Id less_than(Builder& b, Id a, double c) { return b.add("less", {a, b.filled(b.dtype(a), c)}, {}, DType::kBool); }

// Where neither is greater, maximum and minimum give the second: what is not a number stays that.
Id clamp(Builder& b, Id x, double low, double high) { return b.binary("minimum", high, b.binary("maximum", low, x)); }

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

// Unsigned 64 bits are int64 to us: in the same order with the top bit the other way round.
Id ordered(Builder& b, Id x) {
  return b.element(x) == kUint64 ? b.add("add", {x, b.filled_int(DType::kI64, INT64_MIN)}) : x;
}

template <const char* op>
void comparison(Call& c) {
  c.out(0, c.b.widened(op, {ordered(c.b, c.in(0)), ordered(c.b, c.in(1))}, true));
}

// A quotient of unsigned numbers: of the half it is one of signed ones, and at most one too small.
Id unsigned_quotient(Builder& b, Id x, Id y) {
  auto whole = [&](int64_t v) { return b.filled_int(DType::kI64, v); };
  auto flipped = [&](Id v) { return b.add("add", {v, whole(INT64_MIN)}); };
  auto reaches = [&](Id v) { return b.add("greater_equal", {flipped(v), flipped(y)}, {}, DType::kBool); };
  Id large = b.add("less", {y, whole(0)}, {}, DType::kBool);
  Id divisor = select(b, large, whole(1), y);
  Id half = b.add("div", {b.add("shift_right_unsigned", {x, whole(1)}), divisor});
  Id twice = b.add("add", {half, half});
  Id rest = b.add("sub", {x, b.add("mul", {twice, divisor})});
  Id quotient = b.add("add", {twice, b.cast(reaches(rest), DType::kI64)});
  return select(b, large, b.cast(reaches(x), DType::kI64), quotient);
}

// Versions before 7 had an axis to broadcast along; aotc reads none of these.
constexpr char kAdd[] = "add", kSub[] = "sub", kMul[] = "mul", kLess[] = "less", kLessEqual[] = "less_equal",
               kGreater[] = "greater", kGreaterEqual[] = "greater_equal", kEqual[] = "equal", kMaximum[] = "maximum",
               kMinimum[] = "minimum", kAnd[] = "logical_and", kOr[] = "logical_or";

// Truncated, as C has it.
void div(Call& c) {
  Builder& b = c.b;
  bool large = b.element(c.in(0)) == kUint64;
  c.out(0, large ? unsigned_quotient(b, c.in(0), c.in(1)) : b.widened("div", {c.in(0), c.in(1)}));
}

Id modulo(Builder& b, Id x, Id y, bool truncated) {
  if (!truncated) return b.widened("floor_mod", {x, y});
  // The rest of magnitudes, with the sign of the dividend.
  DType type = b.dtype(x), wide = b.dtype(x) == DType::kF32 ? DType::kF32 : DType::kI64;
  Id p = b.cast(x, wide), q = b.cast(y, wide);
  auto magnitude = [&](Id v) { return b.add("maximum", {v, b.add("neg", {v})}); };
  Id rest = b.add("floor_mod", {magnitude(p), magnitude(q)});
  return b.cast(b.add("select_v2", {less_than(b, p, 0), b.add("neg", {rest}), rest}, {}, wide), type);
}

void mod(Call& c) {
  Builder& b = c.b;
  c.pass_over({"fmod"});  // the same without a sign
  if (b.element(c.in(0)) == kUint64) {
    Id quotient = unsigned_quotient(b, c.in(0), c.in(1));
    return c.out(0, b.add("sub", {c.in(0), b.add("mul", {quotient, c.in(1)})}));
  }
  c.out(0, modulo(c.b, c.in(0), c.in(1), c.i("fmod", 0) != 0));
}

// Of int64, by squares; exponents below 0 leave something of 1 and -1 only, and those over 63 overflow.
Id whole_power(Builder& b, Id x, Id y) {
  auto number = [&](int64_t v) { return b.filled_int(DType::kI64, v); };
  auto mul = [&](Id p, Id q) { return b.add("mul", {p, q}); };
  const Id one = number(1);
  Id out, base = x, left = y, first_odd;
  for (int bit = 0; bit < 6; ++bit) {
    Id odd = b.add("equal", {b.add("floor_mod", {left, number(2)}), one}, {}, DType::kBool);
    out = bit == 0 ? select(b, odd, x, one) : select(b, odd, mul(out, base), out);
    if (bit == 0) first_odd = out;
    base = mul(base, base);
    left = b.add("shift_right_unsigned", {left, one});
  }
  const auto known = b.is_constant(y) ? b.ints(y) : std::nullopt;
  if (known && std::all_of(known->begin(), known->end(), [](int64_t v) { return v >= 0; })) return out;
  Id is_one = b.add("equal", {mul(x, x), one}, {}, DType::kBool);
  return select(b, less_than(b, y, 0), select(b, is_one, first_odd, number(0)), out);
}

// An exponent of float32 that is whole gives what a whole one does, to the bit.
Id power_of_whole(Builder& b, Id x, Id y) {
  Id base = b.cast(x, DType::kI64), exact = whole_power(b, base, b.cast(y, DType::kI64));
  if (b.dtype(y) == DType::kF32) {
    Id real = b.cast(b.add("pow", {b.cast(x, DType::kF32), y}), DType::kI64);
    exact = select(b, b.add("equal", {y, b.add("floor", {y})}, {}, DType::kBool), exact, real);
  }
  return b.cast(exact, b.dtype(x));
}

void pow(Call& c) {
  Builder& b = c.b;
  Id x = c.in(0), y = c.in(1);
  DType type = b.dtype(x);
  if (b.element(x) == kUint64) c.refuse("powers of UINT64 are not supported", "use float32");
  if (type == DType::kF32) return c.out(0, b.add("pow", {x, b.dtype(y) == type ? y : b.as_element(y, kFloat)}));
  if (b.dtype(y) == DType::kF32 || type == DType::kI64) return c.out(0, power_of_whole(b, x, y));
  c.out(0, b.cast(b.add("pow", {b.cast(x, DType::kI32), b.cast(y, DType::kI32)}), type));
}

// A number in all of its elements.
bool has_numbers(Builder& b, Id x) {
  if (!b.is_constant(x)) return false;
  const auto values = b.floats(x);
  return !values || std::none_of(values->begin(), values->end(), [](float v) { return std::isnan(v); });
}

// What is not a number stays that, on either side.
Id extremum(Builder& b, std::string_view op, Id x, Id y) {
  if (has_numbers(b, y)) std::swap(x, y);  // as in clamp
  if (b.dtype(x) != DType::kF32 || b.dtype(y) != DType::kF32 || has_numbers(b, x)) return b.widened(op, {x, y});
  return b.add(std::string(op) + "_nan", {x, y});
}

template <const char* op>
void variadic(Call& c) {
  bool turned = c.b.element(c.in(0)) == kUint64 && op != kAdd;
  Id out = turned ? ordered(c.b, c.in(0)) : c.in(0);
  for (size_t i = 1; i < c.inputs(); ++i) {
    const Id next = turned ? ordered(c.b, c.in(i)) : c.in(i);
    out = op == kAdd ? c.b.widened(op, {out, next}) : extremum(c.b, op, out, next);
  }
  if (turned) out = c.b.add("add", {out, c.b.filled_int(DType::kI64, INT64_MIN)});
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

template <const char* op>
void bitwise(Call& c) {
  c.out(0, c.b.widened(op, {c.in(0), c.in(1)}));
}
constexpr char kBitAnd[] = "bit_and", kBitOr[] = "bit_or", kBitXor[] = "bit_xor", kLeft[] = "shift_left",
               kRight[] = "shift_right_unsigned";

void bitwise_not(Call& c) {
  Builder& b = c.b;
  DType type = b.dtype(c.in(0));
  DType wide = size_of(type) < 4 ? DType::kI32 : type == DType::kU32 ? DType::kI64 : type;
  c.out(0, b.cast(b.add("sub", {b.filled_int(wide, -1), b.cast(c.in(0), wide)}), type));
}

void bit_shift(Call& c) {
  std::string direction = c.s("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") c.refuse("the direction must be LEFT or RIGHT");
  const DType type = c.b.dtype(c.in(0));
  const bool has_sign =
      c.b.element(c.in(0)) != kUint64 && type != DType::kU8 && type != DType::kU16 && type != DType::kU32;
  if (direction == "RIGHT" && has_sign) c.refuse("signed integers cannot be shifted to the right");
  direction == "LEFT" ? bitwise<kLeft>(c) : bitwise<kRight>(c);
}

void prelu(Call& c) {
  Builder& b = c.b;
  Id x = c.in(0), slope = c.in(1);
  if (b.dtype(x) == DType::kF32) return c.out(0, b.add("prelu", {x, slope}));
  c.out(0, select(b, b.widened("less", {x, b.filled_int(b.dtype(x), 0)}, true), b.widened("mul", {x, slope}), x));
}

// What of a type is finite, as it is computed; of float64 that is more than float32 has.
double largest_of(int32_t element) {
  if (element == kFloat16) return 65504;
  if (element == kBfloat16) return 0x1.FEp127;
  return element == kDouble ? HUGE_VAL : std::numeric_limits<float>::max();
}

// The bound that is given, or the element type's; nothing where it is computed.
std::optional<double> bound_of(Call& c, size_t operand, const char* attribute, double sign) {
  const double finite = sign * largest_of(c.b.element(c.in(0)));
  if (c.version() < 11) return c.find(attribute) ? c.f(attribute, 0) : finite;
  if (!c.has(operand)) return finite;
  const auto number = c.b.number(c.in(operand));
  return number && std::isnan(*number) ? sign * HUGE_VAL : number;  // no bound at all
}

// The lower bound goes first: where the bounds are the wrong way round the upper one holds.
void clip(Call& c) {
  Id x = c.in(0);
  if (c.b.dtype(x) == DType::kF32) {
    const auto low = bound_of(c, 1, "min", -1), high = bound_of(c, 2, "max", 1);
    if (low && high && std::isfinite(*low) && std::isfinite(*high))
      return c.out(0,
                   c.b.add("bounded", {x}, {{"low", static_cast<float>(*low)}, {"high", static_cast<float>(*high)}}));
    x = !low ? c.b.widened("maximum", {c.in(1), x}) : std::isfinite(*low) ? c.b.binary("maximum", *low, x) : x;
    x = !high ? c.b.widened("minimum", {c.in(2), x}) : std::isfinite(*high) ? c.b.binary("minimum", *high, x) : x;
    return c.out(0, x);
  }
  if (c.has(1)) x = c.b.widened("maximum", {c.in(1), x});
  if (c.has(2)) x = c.b.widened("minimum", {c.in(2), x});
  c.out(0, x);
}

void cast_to(Call& c, int32_t element_type) {
  std::string powers = c.s("round_mode", "up");
  if (powers != "up" && powers != "down" && powers != "nearest")
    c.refuse(fmt::format("round_mode '{}' is not supported", escape_for_display(powers)));
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
    {"BitwiseAnd", 18, bitwise<kBitAnd>},
    {"BitwiseOr", 18, bitwise<kBitOr>},
    {"BitwiseXor", 18, bitwise<kBitXor>},
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
