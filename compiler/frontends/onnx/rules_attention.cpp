// SPDX-License-Identifier: Apache-2.0
// Attention, put together from products, a mask and softmax.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

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
  const int64_t heads = c.i(attribute, shape.size() == 4 ? shape[1] : 0);
  if (shape.size() == 4 && heads == shape[1]) return c.in(input);
  if (shape.size() != 3 || heads < 1 || shape[2] % heads != 0)
    c.refuse(fmt::format("input {} of shape {} does not divide into {} heads ({})", input, graph::to_string(shape),
                         heads, attribute));
  return b.transpose(b.reshape(c.in(input), {shape[0], shape[1], heads, shape[2] / heads}), {0, 2, 1, 3});
}

// Each head `times` times, one behind the other.
Id repeated(Builder& b, Id x, int64_t times) {
  const graph::Shape s = b.shape(x);
  Id wide = b.broadcast(b.reshape(x, {s[0], s[1], 1, s[2], s[3]}), {s[0], s[1], times, s[2], s[3]});
  return b.reshape(wide, {s[0], s[1] * times, s[2], s[3]});
}

Id hidden_where_not(Builder& b, Id shown) {
  return select(b, shown, b.filled(DType::kF32, 0.0), b.filled(DType::kF32, kNever));
}

// The mask of the file, as what is added to products.
Id given_mask(Call& c, int64_t columns) {
  Builder& b = c.b;
  Id mask = c.in(3);
  if (b.dtype(mask) == DType::kBool) mask = hidden_where_not(b, mask);
  const int64_t missing = b.shape(mask).empty() ? 0 : columns - b.shape(mask).back();
  if (missing <= 0) return mask;
  if (b.shape(mask).back() == 1)
    c.refuse(fmt::format("the mask has 1 column for {} keys", columns), "give the mask a column for each key");
  Ints before(b.shape(mask).size(), 0), after = before;
  after.back() = missing;
  return b.add("pad", {mask, b.filled(DType::kF32, kNever)}, {{"before", before}, {"after", after}});
}

// What a query may see by its place: the key's place less the query's is at most, or at least, so much.
Id places_mask(Call& c, const graph::Shape& products, int64_t past) {
  Builder& b = c.b;
  const bool causal = c.i("is_causal", 0) != 0;
  const int64_t left = c.i("left_window_size", -1), right = c.i("right_window_size", -1);
  if (left < -1 || right < -1 || left > INT32_MAX / 2 || right > INT32_MAX / 2)
    c.refuse(fmt::format("left_window_size and right_window_size must be from -1 to {}", INT32_MAX / 2));
  if (!causal && left < 0 && right < 0) return {};
  const int64_t rows = products[2], columns = products[3];
  if (rows * columns > 4'000'000)
    c.refuse(fmt::format("a mask of {} x {} elements exceeds the limit of 4,000,000 elements", rows, columns));
  Ints apart;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t col = 0; col < columns; ++col) apart.push_back(col - r);
  Id place = b.reshape(b.int_list(apart, DType::kI32), {rows, columns});
  // Keys in front of the first query.
  Id offset = b.filled_int(DType::kI32, past);
  if (c.has(6))
    offset = b.add("sub",
                   {b.reshape(b.cast(c.in(6), DType::kI32), {products[0], 1, 1, 1}), b.filled_int(DType::kI32, rows)});
  auto moved = [&](int64_t by) { return b.add("add", {offset, b.filled_int(DType::kI32, by)}); };
  Id shown;
  auto and_also = [&](const char* op, Id bound) {
    Id one = b.add(op, {place, bound}, {}, DType::kBool);
    shown = shown.valid() ? b.add("logical_and", {shown, one}, {}, DType::kBool) : one;
  };
  if (causal) and_also("less_equal", offset);
  if (left >= 0) and_also("greater_equal", moved(-left));
  if (right >= 0) and_also("less_equal", moved(right));
  return hidden_where_not(b, shown);
}

// What is added to products: nothing, or minus infinity where a query must not look.
Id mask_of(Call& c, const graph::Shape& products, int64_t past) {
  Builder& b = c.b;
  Id sum;
  auto add = [&](Id mask) { sum = sum.valid() ? b.binary("add", sum, mask) : mask; };
  if (c.has(3)) add(given_mask(c, products[3]));
  if (Id places = places_mask(c, products, past); places.valid()) add(places);
  if (c.has(6)) {
    if (c.has(4) || c.shape(6) != graph::Shape{products[0]})
      c.refuse(fmt::format("nonpad_kv_seqlen must have shape [{}], and cannot be combined with past_key", products[0]));
    Ints all(static_cast<size_t>(products[3]));
    std::iota(all.begin(), all.end(), 0);
    Id length = b.reshape(b.cast(c.in(6), DType::kI32), {products[0], 1, 1, 1});
    add(hidden_where_not(b, b.add("less", {b.int_list(all, DType::kI32), length}, {}, DType::kBool)));
  }
  return sum;
}

// Rows of weights whose mask hides every key are zeros.
Id without_hidden_rows(Builder& b, Id weights, Id mask) {
  const int64_t last = b.rank(mask) - 1;
  Id most = last < 0 ? mask : reduce(b, "reduce_max_nan", mask, {last}, true);
  Id hidden = b.add("equal", {most, b.filled(DType::kF32, kNever)}, {}, DType::kBool);
  const auto known = b.is_constant(hidden) ? b.ints(hidden) : std::nullopt;
  if (known && std::count(known->begin(), known->end(), 0) == static_cast<int64_t>(known->size())) return weights;
  return select(b, hidden, b.filled(DType::kF32, 0.0), weights);
}

float scale_of(Call& c, int64_t size) {
  return c.find("scale") != nullptr ? c.f("scale", 1.0f) : 1.0f / std::sqrt(static_cast<float>(size));
}

// With every step rounded to the type of the operands, as the specification's function has it.
void attend(Call& c, Id q, Id k, Id v, int64_t past) {
  Builder& b = c.b;
  const int32_t element = b.element(c.in(0));
  const auto precision = static_cast<int32_t>(c.i("softmax_precision", element));
  if (precision != kFloat && precision != kFloat16 && precision != kDouble && precision != kBfloat16)
    c.refuse(fmt::format("softmax_precision {} is not supported", element_type_name(precision)));
  auto step = [&](Id x) { return b.rounded(x, element); };
  Id root = step(b.filled(DType::kF32, std::sqrt(static_cast<double>(scale_of(c, b.shape(q)[3])))));
  Id x = step(b.add("batch_matmul",
                    {step(b.binary("mul", q, root)), step(b.transpose(step(b.binary("mul", k, root)), {0, 1, 3, 2}))}));
  // What the last output shows: products, then softly bounded, then with the mask, then weights.
  Id stages[4] = {x};
  const float cap = c.f("softcap", 0.0f);
  if (!(cap >= 0.0f)) c.refuse("softcap must be at least 0");
  if (cap != 0.0f) x = step(b.binary("mul", step(b.add("tanh", {step(b.binary("div", x, cap))})), cap));
  stages[1] = x;
  const graph::Shape products = b.shape(x);
  Id mask = mask_of(c, products, past);
  if (mask.valid()) x = step(b.binary("add", x, mask));
  stages[2] = x;
  x = softmax_as(b, b.as_element(x, precision), b.rank(x) - 1, precision);
  if (precision != element) x = step(b.as_element(x, kFloat));
  if (mask.valid()) x = b.set_element(without_hidden_rows(b, x, mask), element);
  stages[3] = x;
  Id y = b.add("batch_matmul", {x, v});
  if (c.shape(0).size() == 3) {
    y = b.transpose(y, {0, 2, 1, 3});
    const graph::Shape s = b.shape(y);
    y = b.reshape(y, {s[0], s[1], s[2] * s[3]});
  }
  c.out(0, y);
  const int64_t shown = c.i("qk_matmul_output_mode", 0);
  if (c.wants(3) && (shown < 0 || shown > 3)) c.refuse("qk_matmul_output_mode must be from 0 to 3");
  if (c.wants(3)) c.out(3, stages[shown]);
}

void attention(Call& c) {
  Builder& b = c.b;
  Id q = heads_of(c, 0, "q_num_heads"), k = heads_of(c, 1, "kv_num_heads"), v = heads_of(c, 2, "kv_num_heads");
  if (c.has(4) != c.has(5)) c.refuse("past_key and past_value must be given together");
  const int64_t past = c.has(4) ? c.shape(4).size() == 4 ? c.shape(4)[2] : -1 : 0;
  if (past < 0) c.refuse("past_key must have four dimensions");
  if (c.has(4)) k = b.add("concatenation", {c.in(4), k}, {{"axis", 2}});
  if (c.has(5)) v = b.add("concatenation", {c.in(5), v}, {{"axis", 2}});
  c.out(1, k);
  c.out(2, v);
  int64_t groups = b.shape(q)[1] / std::max<int64_t>(b.shape(k)[1], 1);
  if (b.shape(k)[1] < 1 || groups * b.shape(k)[1] != b.shape(q)[1])
    c.refuse(fmt::format("the operator has {} query heads, expected a multiple of the {} key heads", b.shape(q)[1],
                         b.shape(k)[1]));
  if (groups > 1) {
    k = repeated(b, k, groups);
    v = repeated(b, v, groups);
  }
  attend(c, q, k, v, past);
}

constexpr Rule kRules[] = {{"Attention", 23, attention}};

}  // namespace

}  // namespace attention

std::span<const Rule> attention_rules() { return attention::kRules; }

}  // namespace aotc::frontends::onnx
