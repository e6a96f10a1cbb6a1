// SPDX-License-Identifier: Apache-2.0
// The steps of optimisers, which a model that learns on the device runs.
#include <fmt/format.h>

#include "frontends/onnx/rules.h"

namespace aotc::frontends::onnx {

namespace training {

namespace {

// Inputs are the rate, the count of steps, and then so many tensors of each kind.
struct Tensors {
  size_t count;
  Id rate, steps;  // f32

  Tensors(Call& c, size_t kinds) : count((c.inputs() - 2) / kinds) {
    if (c.inputs() < 2 + kinds || (c.inputs() - 2) % kinds != 0 || c.outputs() > count * (kinds - 1))
      c.refuse(
          fmt::format("{} inputs and {} outputs do not match: expected 2 inputs, then {} inputs and up to {} outputs "
                      "for each tensor",
                      c.inputs(), c.outputs(), kinds, kinds - 1));
    rate = c.in(0);
    steps = c.b.cast(c.in(1), DType::kF32);
  }
  Id of(Call& c, size_t kind, size_t i) const { return c.in(2 + kind * count + i); }
};

// The gradient, with that of the norm.
Id regularised(Call& c, const Tensors& t, size_t i) {
  Builder& b = c.b;
  return b.binary("add", b.binary("mul", t.of(c, 0, i), c.f("norm_coefficient", 0)), t.of(c, 1, i));
}

void adagrad(Call& c) {
  Builder& b = c.b;
  Tensors t(c, 3);
  Id rate = b.binary("div", t.rate, b.binary("add", b.binary("mul", t.steps, c.f("decay_factor", 0)), 1.0));
  for (size_t i = 0; i < t.count; ++i) {
    Id gradient = regularised(c, t, i);
    Id squares = b.binary("add", t.of(c, 2, i), b.binary("mul", gradient, gradient));
    Id root = b.binary("add", b.add("sqrt", {squares}), c.f("epsilon", 1e-6f));
    c.out(i, b.binary("sub", t.of(c, 0, i), b.binary("div", b.binary("mul", rate, gradient), root)));
    c.out(t.count + i, squares);
  }
}

void momentum(Call& c) {
  Builder& b = c.b;
  Tensors t(c, 3);
  std::string mode = c.s("mode", "");
  if (mode != "standard" && mode != "nesterov") c.refuse("the mode must be standard or nesterov");
  Id later = b.add("greater", {t.steps, b.filled(DType::kF32, 0)}, {}, DType::kBool);
  Id share = select(b, later, b.filled(DType::kF32, c.f("beta", 0)), b.filled(DType::kF32, 1));
  for (size_t i = 0; i < t.count; ++i) {
    Id gradient = regularised(c, t, i);
    double alpha = c.f("alpha", 0);
    Id speed = b.binary("add", b.binary("mul", t.of(c, 2, i), alpha), b.binary("mul", share, gradient));
    Id way = mode == "standard" ? speed : b.binary("add", gradient, b.binary("mul", speed, alpha));
    c.out(i, b.binary("sub", t.of(c, 0, i), b.binary("mul", t.rate, way)));
    c.out(t.count + i, speed);
  }
}

// From the second step on the rate makes up for averages that began with zero.
Id corrected_rate(Call& c, const Tensors& t, float alpha, float beta) {
  Builder& b = c.b;
  auto missing = [&](float base) { return b.binary("sub", 1.0, b.add("pow", {b.filled(DType::kF32, base), t.steps})); };
  Id later = b.add("greater", {t.steps, b.filled(DType::kF32, 0)}, {}, DType::kBool);
  // No zero is divided by where the quotient is not taken.
  Id divisor = select(b, later, missing(alpha), b.filled(DType::kF32, 1));
  Id factor = b.binary("div", b.add("sqrt", {missing(beta)}), divisor);
  return b.binary("mul", t.rate, select(b, later, factor, b.filled(DType::kF32, 1)));
}

void adam(Call& c) {
  Builder& b = c.b;
  Tensors t(c, 4);
  float alpha = c.f("alpha", 0.9f), beta = c.f("beta", 0.999f), post = c.f("norm_coefficient_post", 0);
  Id rate = corrected_rate(c, t, alpha, beta);
  auto average = [&](Id old, float share, Id now) {
    return b.binary("add", b.binary("mul", old, share), b.binary("mul", now, 1.0 - share));
  };
  for (size_t i = 0; i < t.count; ++i) {
    Id gradient = regularised(c, t, i);
    Id first = average(t.of(c, 2, i), alpha, gradient);
    Id second = average(t.of(c, 3, i), beta, b.binary("mul", gradient, gradient));
    Id root = b.binary("add", b.add("sqrt", {second}), c.f("epsilon", 1e-6f));
    Id out = b.binary("sub", t.of(c, 0, i), b.binary("mul", rate, b.binary("div", first, root)));
    c.out(i, post == 0 ? out : b.binary("mul", out, 1.0 - post));
    c.out(t.count + i, first);
    c.out(2 * t.count + i, second);
  }
}

constexpr std::string_view kDomain = "ai.onnx.preview.training";
constexpr Rule kRules[] = {
    {"Adagrad", 1, adagrad, kDomain},
    {"Momentum", 1, momentum, kDomain},
    {"Adam", 1, adam, kDomain},
};

}  // namespace

}  // namespace training

std::span<const Rule> training_rules() { return training::kRules; }

}  // namespace aotc::frontends::onnx
