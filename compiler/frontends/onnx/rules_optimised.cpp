// SPDX-License-Identifier: Apache-2.0
// Operators of com.microsoft that onnxruntime's optimiser writes: each fuses an operator of ai.onnx with its
// neighbours.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/onnx/quantized.h"
#include "frontends/onnx/rules.h"

namespace aotc::frontends::onnx {

namespace optimised {

namespace {

// The rule of ai.onnx for an operator of the same inputs and attributes.
void as_standard(Call& c, std::string_view type) { find_rule("", type, 17)->import(c); }

// The activation that the attributes of a fused operator name. `numbers`: its parameters, in their order.
Id activated(Call& c, Id x, const std::vector<float>& numbers) {
  Builder& b = c.b;
  const std::string name = c.s("activation", "");
  auto number = [&](size_t i, float otherwise) { return i < numbers.size() ? numbers[i] : otherwise; };
  if (name.empty()) return x;
  if (name == "Relu") return b.add("relu", {x});
  if (name == "Sigmoid") return b.add("logistic", {x});
  if (name == "Tanh") return b.add("tanh", {x});
  if (name == "LeakyRelu") return b.add("leaky_relu", {x}, {{"alpha", number(0, 0.01f)}});
  if (name == "Clip" && numbers.size() == 2) return clamp(b, x, number(0, 0.0f), number(1, 0.0f));
  if (name == "HardSigmoid")
    return clamp(b, b.binary("add", b.binary("mul", x, number(0, 0.2f)), number(1, 0.5f)), 0.0, 1.0);
  c.refuse(fmt::format("activation '{}' is not supported", escape_for_display(name)),
           "give aotc the original model, not the one that onnxruntime optimised");
}

void fused_conv(Call& c) {
  as_standard(c, "Conv");
  Id out = c.results()[0];
  if (c.has(3)) out = c.b.binary("add", out, c.in(3));
  c.out(0, activated(c, out, c.reals("activation_params")));
}

void fused_gemm(Call& c) {
  as_standard(c, "Gemm");
  const float alpha = c.f("activation_alpha", 0.01f), beta = c.f("activation_beta", 0.0f);
  c.pass_over({"activation_gamma"});  // of activations that are refused
  c.out(0, activated(c, c.results()[0], {alpha, beta}));
}

// A matrix operand: `batch`: its rows are dimension 0, in front of those of the batch; `turned`: the last two
// dimensions change places.
Id matrix_of(Builder& b, Id x, bool batch, bool turned) {
  Ints order;
  for (int64_t d = 0; d < b.rank(x); ++d) order.push_back(d);
  const size_t rank = order.size();
  if (batch && rank >= 2) std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
  if (turned && rank >= 2) std::swap(order[rank - 1], order[rank - 2]);
  return b.transpose(x, order);
}

void fused_mat_mul(Call& c) {
  Builder& b = c.b;
  Id x = matrix_of(b, c.in(0), c.i("transBatchA", 0) != 0, c.i("transA", 0) != 0);
  Id y = matrix_of(b, c.in(1), c.i("transBatchB", 0) != 0, c.i("transB", 0) != 0);
  const float alpha = c.f("alpha", 1.0f);
  Id out = matmul(b, x, y);
  c.out(0, alpha == 1.0f ? out : b.binary("mul", out, alpha));
}

template <bool kApproximate>
void gelu(Call& c) {
  Builder& b = c.b;
  Id x = c.has(1) ? b.binary("add", c.in(0), c.in(1)) : c.in(0);
  c.out(0, b.add("gelu", {x}, {{"approximate", kApproximate}}));
}

// x times the sigmoid of alpha x.
void quick_gelu(Call& c) {
  Builder& b = c.b;
  Id x = c.in(0);
  c.out(0, b.binary("mul", x, b.add("logistic", {b.binary("mul", x, c.f("alpha", 1.702f))})));
}

// Distances of rows from rows, by their products as onnxruntime has them: |x|^2 - 2 x y + |y|^2, at least 0.
void distances(Call& c) {
  Builder& b = c.b;
  const std::string metric = c.s("metric", "sqeuclidean");
  if (metric != "sqeuclidean" && metric != "euclidean")
    c.refuse(fmt::format("metric '{}' is not supported", escape_for_display(metric)));
  if (c.shape(0).size() != 2 || c.shape(1).size() != 2) c.refuse("the operands must be matrices");
  auto squares = [&](Id x) { return reduce(b, "sum", b.binary("mul", x, x), {1}, false); };
  Id products = matmul(b, b.binary("mul", c.in(0), -2.0), b.transpose(c.in(1), {1, 0}));
  Id sum =
      b.binary("add", b.binary("add", products, b.reshape(squares(c.in(0)), {c.shape(0)[0], 1})), squares(c.in(1)));
  sum = b.add("relu", {sum});
  c.out(0, metric == "euclidean" ? b.add("sqrt", {sum}) : sum);
}

constexpr Rule kRules[] = {
    {"FusedConv", 1, fused_conv, "com.microsoft"},      {"FusedGemm", 1, fused_gemm, "com.microsoft"},
    {"FusedMatMul", 1, fused_mat_mul, "com.microsoft"}, {"Gelu", 1, gelu<false>, "com.microsoft"},
    {"BiasGelu", 1, gelu<false>, "com.microsoft"},      {"FastGelu", 1, gelu<true>, "com.microsoft"},
    {"QuickGelu", 1, quick_gelu, "com.microsoft"},      {"CDist", 1, distances, "com.microsoft"},
};

}  // namespace

}  // namespace optimised

std::span<const Rule> optimised_rules() { return optimised::kRules; }

}  // namespace aotc::frontends::onnx
