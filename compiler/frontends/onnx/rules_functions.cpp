// SPDX-License-Identifier: Apache-2.0
// Functions of one number. What is no operator of ours is put together so that nothing overflows on
// the way to a result that does not.
#include <fmt/format.h>

#include <cmath>

#include "frontends/onnx/rules.h"

namespace aotc::frontends::onnx {

namespace functions {

namespace {

template <const char* op>
void plain(Call& c) {
  c.out(0, c.b.add(op, {c.in(0)}));
}

template <const char* op>
void whole_too(Call& c) {
  c.out(0, c.b.widened(op, {c.in(0)}));
}

constexpr char kExp[] = "exp", kLog[] = "log", kSqrt[] = "sqrt", kFloor[] = "floor", kCeil[] = "ceil",
               kRound[] = "round", kSin[] = "sin", kCos[] = "cos", kTanh[] = "tanh", kLogistic[] = "logistic",
               kHardSwish[] = "hard_swish", kNeg[] = "neg";

Id exp_of(Builder& b, Id x) { return b.add("exp", {x}); }
Id neg_of(Builder& b, Id x) { return b.add("neg", {x}); }

Id magnitude(Builder& b, Id x) {
  if (b.dtype(x) == DType::kF32) return b.add("abs", {x});
  return b.widened("maximum", {x, b.widened("neg", {x})});
}

void abs(Call& c) {
  DType t = c.b.dtype(c.in(0));
  bool unsigned_type = t == DType::kU8 || t == DType::kU16 || t == DType::kU32;
  c.out(0, unsigned_type ? c.in(0) : magnitude(c.b, c.in(0)));
}

void sign(Call& c) {
  Builder& b = c.b;
  Id x = c.in(0);
  if (b.dtype(x) == DType::kF32 || size_of(b.dtype(x)) < 4) return c.out(0, b.widened("sign", {x}));
  DType wide = DType::kI64;
  Id one = b.filled_int(wide, 1);
  c.out(0, b.cast(b.add("maximum", {b.add("minimum", {b.cast(x, wide), one}), b.filled_int(wide, -1)}), b.dtype(x)));
}

void relu(Call& c) {
  Id x = c.in(0);
  c.out(0, c.b.dtype(x) == DType::kF32 ? c.b.add("relu", {x})
                                       : c.b.widened("maximum", {x, c.b.filled_int(c.b.dtype(x), 0)}));
}

void reciprocal(Call& c) { c.out(0, c.b.binary("div", 1.0, c.in(0))); }
void tan(Call& c) { c.out(0, c.b.binary("div", c.b.add("sin", {c.in(0)}), c.b.add("cos", {c.in(0)}))); }

template <const char* op>
void hyperbolic(Call& c) {
  Builder& b = c.b;
  Id up = exp_of(b, c.in(0)), down = exp_of(b, neg_of(b, c.in(0)));
  c.out(0, b.binary("mul", b.binary(op, up, down), 0.5));
}
constexpr char kDifference[] = "sub", kSum[] = "add";

void asinh(Call& c) {
  Builder& b = c.b;
  Id x = b.add("abs", {c.in(0)});
  Id root = b.add("sqrt", {b.binary("add", b.binary("mul", x, x), 1.0)});
  c.out(0, b.binary("mul", b.add("log", {b.binary("add", x, root)}), b.add("sign", {c.in(0)})));
}

void acosh(Call& c) {
  Builder& b = c.b;
  Id x = c.in(0);
  Id root = b.add("sqrt", {b.binary("sub", b.binary("mul", x, x), 1.0)});
  c.out(0, b.add("log", {b.binary("add", x, root)}));
}

void atanh(Call& c) {
  Builder& b = c.b;
  Id x = c.in(0);
  Id ratio = b.binary("div", b.binary("add", x, 1.0), b.binary("sub", 1.0, x));
  c.out(0, b.binary("mul", b.add("log", {ratio}), 0.5));
}

void leaky_relu(Call& c) { c.out(0, c.b.add("leaky_relu", {c.in(0)}, {{"alpha", c.f("alpha", 0.01f)}})); }

// alpha (e^x - 1) below 0, beta x above.
Id exponential(Builder& b, Id x, double alpha, double beta, double inverse) {
  Id below = b.binary("minimum", x, 0.0);
  if (inverse != 1.0) below = b.binary("mul", below, inverse);
  below = b.binary("mul", b.binary("sub", exp_of(b, below), 1.0), alpha);
  Id above = b.binary("maximum", x, 0.0);
  if (beta != 1.0) above = b.binary("mul", above, beta);
  return b.binary("add", above, below);
}

void elu(Call& c) {
  float alpha = c.f("alpha", 1.0f);
  c.out(0, alpha == 1.0f ? c.b.add("elu", {c.in(0)}) : exponential(c.b, c.in(0), alpha, 1.0, 1.0));
}

void selu(Call& c) {
  double alpha = c.f("alpha", 1.67326319217681884765625f), gamma = c.f("gamma", 1.05070102214813232421875f);
  c.out(0, exponential(c.b, c.in(0), alpha * gamma, gamma, 1.0));
}

void celu(Call& c) {
  double alpha = c.f("alpha", 1.0f);
  c.out(0, exponential(c.b, c.in(0), alpha, 1.0, 1.0 / alpha));
}

void hard_sigmoid(Call& c) {
  Builder& b = c.b;
  Id line = b.binary("add", b.binary("mul", c.in(0), c.f("alpha", 0.2f)), c.f("beta", 0.5f));
  c.out(0, clamp(b, line, 0.0, 1.0));
}

Id softplus_of(Builder& b, Id x) {
  Id tail = b.add("log", {b.binary("add", exp_of(b, neg_of(b, b.add("abs", {x}))), 1.0)});
  return b.binary("add", b.binary("maximum", x, 0.0), tail);
}

void softplus(Call& c) { c.out(0, softplus_of(c.b, c.in(0))); }
void softsign(Call& c) { c.out(0, c.b.binary("div", c.in(0), c.b.binary("add", c.b.add("abs", {c.in(0)}), 1.0))); }
void mish(Call& c) { c.out(0, c.b.binary("mul", c.in(0), c.b.add("tanh", {softplus_of(c.b, c.in(0))}))); }

void swish(Call& c) {
  Builder& b = c.b;
  float alpha = c.f("alpha", 1.0f);
  Id x = c.in(0);
  c.out(0, b.binary("mul", x, b.add("logistic", {alpha == 1.0f ? x : b.binary("mul", x, alpha)})));
}

void thresholded_relu(Call& c) {
  Builder& b = c.b;
  Id x = c.in(0), alpha = b.filled(DType::kF32, c.f("alpha", 1.0f));
  c.out(0, select(b, b.add("greater", {x, alpha}, {}, DType::kBool), x, b.filled(DType::kF32, 0.0)));
}

void shrink(Call& c) {
  Builder& b = c.b;
  DType type = b.dtype(c.in(0));
  Id x = b.cast(c.in(0), DType::kF32);
  double lambda = c.f("lambd", 0.5f), bias = c.f("bias", 0.0f);
  Id above = b.add("greater", {x, b.filled(DType::kF32, lambda)}, {}, DType::kBool);
  Id inner = select(b, above, b.binary("sub", x, bias), b.filled(DType::kF32, 0.0));
  c.out(0, b.cast(select(b, less_than(b, x, -lambda), b.binary("add", x, bias), inner), type));
}

void gelu(Call& c) {
  const std::string how = c.s("approximate", "none");
  if (how != "none" && how != "tanh")
    c.refuse(fmt::format("approximate '{}' is not supported", escape_for_display(how)));
  const bool approximate = how == "tanh";
  c.out(0, c.b.add("gelu", {c.in(0)}, {{"approximate", approximate}}));
}

void erf(Call& c) { c.out(0, c.b.add("erf", {c.in(0)})); }

void is_nan(Call& c) { c.out(0, c.b.add("not_equal", {c.in(0), c.in(0)}, {}, DType::kBool)); }

void is_inf(Call& c) {
  Builder& b = c.b;
  Id x = c.in(0), infinite = b.filled(DType::kF32, INFINITY);
  bool up = c.i("detect_positive", 1) != 0, down = c.i("detect_negative", 1) != 0;
  if (!up && !down) return c.out(0, b.filled_int(DType::kBool, 0, b.shape(x)));
  Id of = up && down ? b.add("abs", {x}) : up ? x : neg_of(b, x);
  c.out(0, b.add("equal", {of, infinite}, {}, DType::kBool));
}

// Angles of points: of the unit circle for the arc sine and cosine, whose other coordinate is no number beyond it.
Id other_coordinate(Builder& b, Id x) {
  return b.add("sqrt", {b.binary("mul", b.binary("sub", 1.0, x), b.binary("add", x, 1.0))});
}
void asin(Call& c) { c.out(0, c.b.binary("atan2", c.in(0), other_coordinate(c.b, c.in(0)))); }
void acos(Call& c) { c.out(0, c.b.binary("atan2", other_coordinate(c.b, c.in(0)), c.in(0))); }
void atan(Call& c) { c.out(0, c.b.binary("atan2", c.in(0), 1.0)); }

void identity(Call& c) { c.out(0, c.in(0)); }

// In inference nothing is dropped; training is refused.
void dropout(Call& c) {
  bool training = c.version() >= 12 && c.has(2) && c.known_ints(2, "the training mode") != Ints{0};
  if (training) {
    auto ratio = c.has(1) ? c.b.number(c.in(1)) : std::optional<double>(0.5);
    if (!ratio || *ratio != 0.0)
      c.refuse("Dropout in training mode is not supported, because it drops elements at random",
               "export the model for inference");
  }
  c.pass_over_input(1);
  c.out(0, c.in(0));
  if (c.wants(1)) c.out(1, c.b.filled_int(c.version() >= 10 ? DType::kBool : c.b.dtype(c.in(0)), 1, c.shape(0)));
}

constexpr Rule kRules[] = {
    {"Exp", 6, plain<kExp>},
    {"Log", 6, plain<kLog>},
    {"Sqrt", 6, plain<kSqrt>},
    {"Floor", 6, plain<kFloor>},
    {"Ceil", 6, plain<kCeil>},
    {"Round", 11, plain<kRound>},
    {"Sin", 7, plain<kSin>},
    {"Cos", 7, plain<kCos>},
    {"Tanh", 6, plain<kTanh>},
    {"Sigmoid", 6, plain<kLogistic>},
    {"HardSwish", 14, plain<kHardSwish>},
    {"Neg", 6, whole_too<kNeg>},
    {"Abs", 6, abs},
    {"Sign", 9, sign},
    {"Relu", 6, relu},
    {"Reciprocal", 6, reciprocal},
    {"Tan", 7, tan},
    {"Sinh", 9, hyperbolic<kDifference>},
    {"Cosh", 9, hyperbolic<kSum>},
    {"Asin", 7, asin},
    {"Acos", 7, acos},
    {"Atan", 7, atan},
    {"Asinh", 9, asinh},
    {"Acosh", 9, acosh},
    {"Atanh", 9, atanh},
    {"LeakyRelu", 6, leaky_relu},
    {"Elu", 6, elu},
    {"Selu", 6, selu},
    {"Celu", 12, celu},
    {"HardSigmoid", 6, hard_sigmoid},
    {"Softplus", 1, softplus},
    {"Softsign", 1, softsign},
    {"Mish", 18, mish},
    {"Swish", 24, swish},
    {"ThresholdedRelu", 10, thresholded_relu},
    {"Shrink", 9, shrink},
    {"Gelu", 20, gelu},
    {"Erf", 9, erf},
    {"IsNaN", 9, is_nan},
    {"IsInf", 10, is_inf},
    {"Identity", 1, identity},
    {"Dropout", 7, dropout},
};

}  // namespace

}  // namespace functions

std::span<const Rule> function_rules() { return functions::kRules; }

}  // namespace aotc::frontends::onnx
