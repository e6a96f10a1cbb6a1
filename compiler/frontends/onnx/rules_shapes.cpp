// SPDX-License-Identifier: Apache-2.0
// What is known from shapes and attributes: constants, and tensors made of numbers alone.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "frontends/onnx/rules.h"

namespace aotc::frontends::onnx {

namespace shapes {

namespace {

std::vector<uint8_t> bytes_of(const std::vector<float>& values) {
  std::vector<uint8_t> out(values.size() * 4);
  if (!values.empty()) std::memcpy(out.data(), values.data(), out.size());
  return out;
}

void constant(Call& c) {
  Builder& b = c.b;
  auto size = [](size_t n) { return graph::Shape{static_cast<int64_t>(n)}; };
  if (const Attribute* a = c.find("value")) {
    const bool labels = a->tensor && a->tensor->type == kString && !b.is_region();
    return c.out(0, labels ? b.labels_of(*a->tensor) : c.tensor(*a));
  }
  if (const Attribute* a = c.find("value_float")) return c.out(0, b.constant(DType::kF32, {}, bytes_of({a->f})));
  if (const Attribute* a = c.find("value_floats"))
    return c.out(0, b.constant(DType::kF32, size(a->floats.size()), bytes_of(a->floats)));
  if (const Attribute* a = c.find("value_int")) return c.out(0, b.filled_int(DType::kI64, a->i));
  if (const Attribute* a = c.find("value_ints")) return c.out(0, b.int_list(a->ints));
  b.stop("onnx-type", "a constant must be a dense tensor of numbers", "export the model with numeric tensors");
}

// Dimensions from `start` to `end`, both cut to what there is.
void shape(Call& c) {
  const graph::Shape& all = c.shape(0);
  auto rank = static_cast<int64_t>(all.size());
  auto cut = [&](int64_t v) { return std::clamp<int64_t>(v < 0 ? v + rank : v, 0, rank); };
  int64_t begin = cut(c.i("start", 0)), end = cut(c.find("end") ? c.i("end", 0) : rank);
  Ints out;
  for (int64_t i = begin; i < end; ++i) out.push_back(all[static_cast<size_t>(i)]);
  c.out(0, c.b.int_list(out));
}

void size(Call& c) { c.out(0, c.b.filled_int(DType::kI64, graph::element_count(c.shape(0)))); }

graph::Shape known_shape(Call& c, size_t i) {
  Ints values = c.known_ints(i, "the shape");
  if (bounded_bytes(values, DType::kI64) < 0 || values.size() > limits::kMaxRank)
    c.b.stop(
        "onnx-limit",
        fmt::format("a tensor of shape {} exceeds the limit for bytes or for dimensions", graph::to_string(values)),
        "export a smaller model");
  return values;
}

void constant_of_shape(Call& c) {
  Builder& b = c.b;
  graph::Shape to = known_shape(c, 0);
  const Attribute* value = c.find("value");
  Id one = value != nullptr ? c.tensor(*value) : b.filled(DType::kF32, 0.0);
  if (b.type(one).elements() != 1) c.refuse("the value must have one element");
  int32_t element = b.element(one);
  DType type = b.dtype(one);
  Id out = type == DType::kF32 ? b.filled(type, *b.number(one), to) : b.filled_int(type, (*b.ints(one))[0], to);
  c.out(0, b.set_element(out, element));
}

void range(Call& c) {
  Builder& b = c.b;
  for (size_t i = 0; i < 3; ++i)
    if (!b.is_constant(c.in(i)))
      b.stop("onnx-constant", "start, limit and delta must be known at compile time", b.how_to_know(c.in(i)));
  DType type = b.dtype(c.in(0));
  if (type == DType::kF32) {
    double start = *b.number(c.in(0)), limit = *b.number(c.in(1)), delta = *b.number(c.in(2));
    double count = delta == 0 ? -1 : std::max(0.0, std::ceil((limit - start) / delta));
    if (!(count >= 0 && count < 1e7))
      c.refuse("start, limit and delta do not give a list of at most 10,000,000 numbers");
    std::vector<float> values;
    for (int64_t i = 0; i < static_cast<int64_t>(count); ++i)
      values.push_back(static_cast<float>(start + static_cast<double>(i) * delta));
    return c.out(0, b.constant(type, {static_cast<int64_t>(values.size())}, bytes_of(values)));
  }
  // Twice the range of what is subtracted.
  __extension__ using Wide = __int128;
  for (size_t i = 0; i < 3; ++i)
    if (b.type(c.in(i)).elements() != 1) c.refuse("start, limit and delta must be one number each");
  auto one = [&](size_t i) { return static_cast<Wide>((*b.ints(c.in(i)))[0]); };
  Wide start = one(0), limit = one(1), delta = one(2);
  Wide way = limit - start;
  Wide count = delta == 0                               ? -1
               : (way == 0 || (way > 0) != (delta > 0)) ? 0
                                                        : (way + delta - (delta > 0 ? 1 : -1)) / delta;
  if (count < 0 || count > 10'000'000)
    c.refuse("start, limit and delta do not give a list of at most 10,000,000 numbers");
  Ints values;
  for (Wide i = 0; i < count; ++i) values.push_back(static_cast<int64_t>(start + i * delta));
  c.out(0, b.int_list(values, type));
}

void eye_like(Call& c) {
  Builder& b = c.b;
  const graph::Shape& like = c.shape(0);
  if (like.size() != 2) c.refuse("the operand must have two dimensions");
  int32_t type = c.find("dtype") ? static_cast<int32_t>(c.i("dtype", 0)) : b.element(c.in(0));
  int64_t k = c.i("k", 0);
  std::vector<float> values(static_cast<size_t>(graph::element_count(like)));
  for (int64_t r = 0; r < like[0]; ++r)
    if (k >= -like[0] && k <= like[1] && r + k >= 0 && r + k < like[1])
      values[static_cast<size_t>(r * like[1] + r + k)] = 1.0f;
  c.out(0, b.as_element(b.constant(DType::kF32, like, bytes_of(values)), type));
}

enum class WindowKind { kHann, kHamming, kBlackman };

template <WindowKind kind>
void window(Call& c) {
  Builder& b = c.b;
  Ints n = c.known_ints(0, "the size");
  if (n.size() != 1 || n[0] < 0 || n[0] > 1'000'000) c.refuse("the size must be one number from 0 to 1,000,000");
  double turn = 2 * M_PI / static_cast<double>(c.i("periodic", 1) != 0 ? n[0] : n[0] - 1);
  std::vector<float> values;
  for (int64_t i = 0; i < n[0]; ++i) {
    double x = turn * static_cast<double>(i);
    double v = kind == WindowKind::kHann      ? 0.5 - 0.5 * std::cos(x)
               : kind == WindowKind::kHamming ? 25.0 / 46 - 21.0 / 46 * std::cos(x)
                                              : 0.42 - 0.5 * std::cos(x) + 0.08 * std::cos(2 * x);
    values.push_back(static_cast<float>(v));
  }
  auto type = static_cast<int32_t>(c.i("output_datatype", kFloat));
  c.out(0, b.as_element(b.constant(DType::kF32, {n[0]}, bytes_of(values)), type));
}

constexpr Rule kRules[] = {
    {"Constant", 1, constant},
    {"Shape", 1, shape},
    {"Size", 1, size},
    {"ConstantOfShape", 9, constant_of_shape},
    {"Range", 11, range},
    {"EyeLike", 9, eye_like},
    {"HannWindow", 17, window<WindowKind::kHann>},
    {"HammingWindow", 17, window<WindowKind::kHamming>},
    {"BlackmanWindow", 17, window<WindowKind::kBlackman>},
};

}  // namespace

}  // namespace shapes

std::span<const Rule> shape_rules() { return shapes::kRules; }

}  // namespace aotc::frontends::onnx
