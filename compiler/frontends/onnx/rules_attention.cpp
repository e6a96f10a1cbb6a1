// SPDX-License-Identifier: Apache-2.0
// Attention, put together from products, a mask and softmax.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "frontends/onnx/rules.h"

namespace aotc::frontends::onnx {

namespace attention {

namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

// [batch, length, heads x size] as [batch, heads, length, size]; of four dimensions it is that
// already.
Id heads_of(Call& c, size_t input, std::string_view attribute) {
  Builder& b = c.b;
  const graph::Shape shape = c.shape(input);
  if (shape.size() == 4) return c.in(input);
  int64_t heads = c.i(attribute, 0);
  if (shape.size() != 3 || heads < 1 || shape[2] % heads != 0)
    c.refuse(fmt::format("its {} does not fit input {}", attribute, input));
  return b.transpose(b.reshape(c.in(input), {shape[0], shape[1], heads, shape[2] / heads}),
                     {0, 2, 1, 3});
}

// Each head `times` times, one behind the other.
Id repeated(Builder& b, Id x, int64_t times) {
  const graph::Shape s = b.shape(x);
  Id wide = b.broadcast(b.reshape(x, {s[0], s[1], 1, s[2], s[3]}), {s[0], s[1], times, s[2], s[3]});
  return b.reshape(wide, {s[0], s[1] * times, s[2], s[3]});
}

// What is added to products: nothing, or minus infinity where a query must not look.
Id mask_of(Call& c, Id products, int64_t past) {
  Builder& b = c.b;
  int64_t rows = b.shape(products)[2], columns = b.shape(products)[3];
  Id mask;
  if (c.has(3)) {
    mask = c.in(3);
    if (b.dtype(mask) == DType::kBool)
      mask = select(b, mask, b.filled(DType::kF32, 0.0), b.filled(DType::kF32, kNever));
    int64_t missing = b.shape(mask).empty() ? 0 : columns - b.shape(mask).back();
    if (missing > 0 && b.shape(mask).back() > 1) {
      Ints before(b.shape(mask).size(), 0), after = before;
      after.back() = missing;
      mask = b.add("pad", {mask, b.filled(DType::kF32, kNever)},
                   {{"before", before}, {"after", after}});
    }
  }
  if (c.i("is_causal", 0) == 0) return mask;
  if (rows * columns > 4'000'000) c.refuse("a causal mask of that size");
  std::vector<uint8_t> allowed;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t col = 0; col < columns; ++col) allowed.push_back(col <= r + past ? 1 : 0);
  Id shown = b.constant(DType::kBool, {rows, columns}, std::move(allowed));
  Id causal = select(b, shown, b.filled(DType::kF32, 0.0), b.filled(DType::kF32, kNever));
  return mask.valid() ? b.binary("add", mask, causal) : causal;
}

void attention(Call& c) {
  for (const char* side : {"left_window_size", "right_window_size"})
    if (c.find(side)) c.refuse(fmt::format("{}", side));
  Builder& b = c.b;
  if (c.has(6)) c.refuse("lengths of keys that are known when it runs");
  Id q = heads_of(c, 0, "q_num_heads"), k = heads_of(c, 1, "kv_num_heads"),
     v = heads_of(c, 2, "kv_num_heads");
  int64_t past = c.has(4) ? c.shape(4)[2] : 0;
  if (c.has(4)) k = b.add("concatenation", {c.in(4), k}, {{"axis", 2}});
  if (c.has(5)) v = b.add("concatenation", {c.in(5), v}, {{"axis", 2}});
  c.out(1, k);
  c.out(2, v);
  int64_t groups = b.shape(q)[1] / std::max<int64_t>(b.shape(k)[1], 1);
  if (b.shape(k)[1] < 1 || groups * b.shape(k)[1] != b.shape(q)[1])
    c.refuse("its heads do not fit each other");
  if (groups > 1) {
    k = repeated(b, k, groups);
    v = repeated(b, v, groups);
  }
  float scale =
      c.find("scale") ? c.f("scale", 1.0f) : 1.0f / std::sqrt(static_cast<float>(b.shape(q)[3]));
  double root = std::sqrt(static_cast<double>(scale));
  Id x = b.add("batch_matmul",
               {b.binary("mul", q, root), b.transpose(b.binary("mul", k, root), {0, 1, 3, 2})});
  // What the last output shows: products, then with the mask, then softly bounded, then weights.
  Id stages[4];
  stages[0] = x;
  if (Id mask = mask_of(c, x, past); mask.valid()) x = b.binary("add", x, mask);
  stages[1] = x;
  float cap = c.f("softcap", 0.0f);
  if (cap != 0.0f) x = b.binary("mul", b.add("tanh", {b.binary("div", x, cap)}), cap);
  stages[2] = x;
  x = b.add("softmax", {x}, {{"beta", 1.0f}});
  stages[3] = x;
  Id y = b.add("batch_matmul", {x, v});
  if (c.shape(0).size() == 3) {
    y = b.transpose(y, {0, 2, 1, 3});
    const graph::Shape s = b.shape(y);
    y = b.reshape(y, {s[0], s[1], s[2] * s[3]});
  }
  c.out(0, y);
  int64_t shown = c.i("qk_matmul_output_mode", 0);
  if (c.wants(3) && (shown < 0 || shown > 3)) c.refuse("its last output is none that there is");
  if (c.wants(3)) c.out(3, stages[shown]);
}

constexpr Rule kRules[] = {{"Attention", 23, attention}};

}  // namespace

}  // namespace attention

std::span<const Rule> attention_rules() { return attention::kRules; }

}  // namespace aotc::frontends::onnx
