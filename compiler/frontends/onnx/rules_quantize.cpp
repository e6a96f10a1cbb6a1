// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear and DequantizeLinear of any kind, quantisation whose scale follows from the data,
// and sums of products of integers.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/onnx/quantized.h"
#include "frontends/onnx/window_attributes.h"

namespace aotc::frontends::onnx {

ByData by_data(Builder& b, Id x) {
  Ints axes;
  for (int64_t d = 0; d < b.rank(x); ++d) axes.push_back(d);
  auto least = [&](const char* op, const char* join) {
    Id v = axes.empty() ? x : b.add(op, {x}, {{"axes", axes}, {"keep_dims", false}});
    return b.binary(join, v, 0.0);
  };
  Id low = least("reduce_min", "minimum"), high = least("reduce_max", "maximum");
  Id scale = b.binary("div", b.binary("sub", high, low), 255.0);
  // Of zeros alone the scale is 1, as in onnxruntime.
  Id none = b.add("equal", {scale, b.filled(DType::kF32, 0.0)}, {}, DType::kBool);
  scale = b.add("select_v2", {none, b.filled(DType::kF32, 1.0), scale}, {}, DType::kF32);
  auto bytes = [&](Id v) { return clamp(b, v, 0.0, 255.0); };
  Id zero = b.add("round", {bytes(b.binary("div", b.binary("sub", 0.0, low), scale))});
  Id whole = b.add("round", {b.binary("div", x, scale)});
  return {bytes(b.binary("add", whole, zero)), scale, zero};
}

// Sums of so many products of 8 by 8 bits are whole numbers that float32 holds, in whatever order.
constexpr int64_t kExactDepth = 256;

Id exact_product(Builder& b, Id x, Id y) {
  const int64_t depth = b.shape(x).back();
  const int64_t rank = b.rank(x);
  Id sum;
  for (int64_t from = 0; from < depth; from += kExactDepth) {
    const int64_t count = std::min(kExactDepth, depth - from);
    auto part = [&](Id v, int64_t axis) {
      Ints begin(static_cast<size_t>(b.rank(v)), 0), counts = b.shape(v);
      begin[static_cast<size_t>(axis)] = from;
      counts[static_cast<size_t>(axis)] = count;
      return b.cast(b.slice(v, begin, counts), DType::kF32);
    };
    Id product = b.cast(matmul(b, part(x, rank - 1), part(y, b.rank(y) - 2)), DType::kI32);
    sum = from == 0 ? product : b.add("add", {sum, product});
  }
  return sum;
}

namespace quantize {

namespace {

// Scales or zero points so that they broadcast to `shape`: one, one for each index of an axis, or
// one for each block of an axis.
Id spread(Call& c, Id v, const graph::Shape shape, int64_t block) {
  Builder& b = c.b;
  if (b.type(v).elements() == 1) return b.reshape(v, {});
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t at = b.axis(c.i("axis", 1), rank);
  const auto axis = static_cast<size_t>(at);
  if (b.rank(v) == 1 && block == 0) {
    if (b.shape(v)[0] != shape[axis])
      c.refuse(
          fmt::format("a scale or zero point has {} elements, but axis {} has {}", b.shape(v)[0], at, shape[axis]));
    graph::Shape to(shape.size(), 1);
    to[axis] = shape[axis];
    return b.reshape(v, to);
  }
  graph::Shape blocks = shape;
  if (block > 0) blocks[axis] = (shape[axis] + block - 1) / block;
  if (block <= 0 || b.shape(v) != blocks)
    c.refuse(fmt::format("a scale or zero point of shape {} does not match blocks of {} along axis {}",
                         graph::to_string(b.shape(v)), block, at));
  graph::Shape inserted = blocks, repeated = blocks, joined = blocks;
  inserted.insert(inserted.begin() + at + 1, 1);
  repeated.insert(repeated.begin() + at + 1, block);
  joined[axis] *= block;
  Id all = b.reshape(b.broadcast(b.reshape(v, inserted), repeated), joined);
  return b.slice(all, Ints(shape.size(), 0), shape);
}

// What QuantizeLinear makes, as files number types.
int32_t result_element(Call& c) {
  if (c.has(2)) return c.b.element(c.in(2));
  const int64_t asked = c.i("output_dtype", 0);
  return asked == 0 ? int32_t{kUint8} : static_cast<int32_t>(asked);
}

struct Range {
  double least, most;
};

// Nothing for what is no whole number.
std::optional<Range> range_of_element(int32_t element) {
  if (element == kInt4) return Range{-8, 7};
  if (element == kUint4) return Range{0, 15};
  auto type = dtype_of(element);
  if (!type || is_float(*type) || size_of(*type) > 2 || *type == DType::kBool) return std::nullopt;
  IntRange range = int_range(*type);
  return Range{static_cast<double>(range.min), static_cast<double>(range.max)};
}

// One scale and zero point for 8 or 16 bits, both known.
std::optional<Affine> plain(Call& c, int32_t element) {
  if (element != kInt8 && element != kUint8 && element != kInt16 && element != kUint16) return std::nullopt;
  if (c.b.element(c.in(1)) != kFloat) return std::nullopt;
  if (c.b.type(c.in(1)).elements() != 1) return std::nullopt;
  return affine_of(c, 1, 2, *dtype_of(element));
}

void quantize_linear(Call& c) {
  Builder& b = c.b;
  Id x = b.cast(c.in(0), DType::kF32);
  const int32_t element = result_element(c);
  const int64_t block = c.i("block_size", 0);
  c.pass_over({"axis", "saturate"});  // of one scale, and of what is no float8
  if (c.has(2) && c.i("output_dtype", 0) != 0 && c.i("output_dtype", 0) != element)
    c.refuse("output_dtype must be the type of the zero point");
  const auto form = form_of(element);
  const auto range = range_of_element(element);
  const bool real = form && form->format && form->format != ops::FloatFormat::kF64;
  if (!real && !range) c.refuse(fmt::format("quantisation to {} is not supported", element_type_name(element)));
  auto known = plain(c, element);
  if (known && b.element(c.in(0)) == kFloat) {
    Id out = quantized(b, x, *known);
    if (b.is_new(out) && !known->wide()) b.name(out, b.where().tensor + " (int8)");
    return c.out(0, stored_of(b, out, known->stored));
  }
  Id y = b.binary("div", x, spread(c, b.cast(c.in(1), DType::kF32), b.shape(x), block));
  if (range) y = b.add("round", {y});
  if (c.has(2)) y = b.binary("add", y, spread(c, b.cast(c.in(2), DType::kF32), b.shape(x), block));
  if (!range) return c.out(0, b.as_element(y, element, {.saturate = c.i("saturate", 1) != 0}));
  y = clamp(b, y, range->least, range->most);
  c.out(0, b.set_element(b.cast(y, form->carrier), element));
}

void dequantize_linear(Call& c) {
  Builder& b = c.b;
  const DType type = b.dtype(c.in(0));
  const int64_t block = c.i("block_size", 0);
  c.pass_over({"axis"});  // of one scale
  const int64_t asked = c.i("output_dtype", 0);
  const int32_t element = asked == 0 ? b.element(c.in(1)) : static_cast<int32_t>(asked);
  auto known = plain(c, b.element(c.in(0)));
  if (known && element == kFloat && known->stored == type && !b.is_constant(c.in(0)))
    return c.out(0, dequantized(b, c.in(0), *known));
  Id x = b.cast(c.in(0), type == DType::kI32 ? type : DType::kF32);
  if (c.has(2)) x = b.binary("sub", x, spread(c, b.cast(c.in(2), b.dtype(x)), b.shape(x), block));
  Id real = b.binary("mul", b.cast(x, DType::kF32), spread(c, b.cast(c.in(1), DType::kF32), b.shape(x), block));
  c.out(0, b.as_element(real, element));
}

// ---------------------------------------------------------------- scales from the data

void dynamic_quantize_linear(Call& c) {
  const ByData q = by_data(c.b, c.in(0));
  c.out(0, c.b.cast(q.whole, DType::kU8));
  c.out(1, q.scale);
  c.out(2, c.b.cast(q.zero, DType::kU8));
}

// ---------------------------------------------------------------- sums of products of integers

// Elements in i32 less their zero point, if there is one. `shape`: of several zero points, so that they broadcast.
Id less_zero_point(Builder& b, Id x, Id zero, const graph::Shape& shape) {
  const Id v = b.cast(x, DType::kI32);
  if (!zero.valid()) return v;
  const bool one = b.type(zero).elements() == 1;
  return b.add("sub", {v, b.reshape(b.cast(zero, DType::kI32), one ? graph::Shape{} : shape)});
}

Id product(Builder& b, const IntegerOperands& of) {
  const bool one = !of.zero.valid() || b.type(of.zero).elements() == 1;
  if (const auto sums = one ? sums_of_product(b, of) : std::nullopt) return *sums;
  // There is a zero point for each row of the left operand, or for each column of the right one.
  graph::Shape rows = of.zero.valid() ? b.shape(of.zero) : graph::Shape{};
  if (rows.size() == 1) rows.push_back(1);
  const Id x = less_zero_point(b, of.x, of.zero, rows);
  const Id y = less_zero_point(b, of.weights, of.weights_zero,
                               of.weights_zero.valid() ? b.shape(of.weights_zero) : graph::Shape{});
  const bool matrices = b.rank(x) >= 2 && b.rank(y) >= 2 && b.shape(x).back() == b.shape(y)[b.shape(y).size() - 2];
  return matrices ? exact_product(b, x, y) : matmul(b, x, y);
}

Id optional_input(Call& c, size_t i) { return c.has(i) ? c.in(i) : Id{}; }

void mat_mul_integer(Call& c) {
  c.out(0, product(c.b, {c.in(0), c.in(1), optional_input(c, 2), optional_input(c, 3)}));
}

// Input 0 quantised by its data, with the integers and their zero point in inputs 1 and 3.
IntegerOperands quantised_operands(Call& c, const ByData& q) {
  return {c.b.cast(q.whole, DType::kU8), c.in(1), c.b.cast(q.zero, DType::kU8), optional_input(c, 3)};
}

// Left rows are quantised by their data, and the sums become floats: inputs are rows, matrix, its scale, zero point,
// bias.
void dynamic_quantize_mat_mul(Call& c) {
  Builder& b = c.b;
  const graph::Shape x = c.shape(0), y = c.shape(1);
  if (x.size() < 2 || y.size() < 2 || x.back() != y[y.size() - 2])
    c.refuse(fmt::format("operands of shapes {} and {} cannot be multiplied as matrices", graph::to_string(x),
                         graph::to_string(y)));
  const ByData q = by_data(b, c.in(0));
  Id scale = c.in(2);
  if (b.type(scale).elements() == 1) scale = b.reshape(scale, {});
  const Id sums = b.cast(product(b, quantised_operands(c, q)), DType::kF32);
  Id out = b.binary("mul", sums, b.binary("mul", q.scale, scale));
  c.out(0, c.has(4) ? b.binary("add", out, c.in(4)) : out);
}

// Shapes are those of inputs 0 and 1 of the call.
Id integer_convolution(Call& c, const IntegerOperands& of) {
  Builder& b = c.b;
  const graph::Shape in = c.shape(0), weights = c.shape(1);
  const int64_t groups = c.i("group", 1);
  if (in.size() < 3 || weights.size() != in.size())
    c.refuse("the operands must be an image of at least three dimensions, and filters with as many dimensions");
  const WindowAttributes w = window_of(c, Ints(weights.begin() + 2, weights.end()));
  if (groups < 1 || in[1] != weights[1] * groups || weights[0] % groups != 0)
    c.refuse(fmt::format("filters of shape {} in {} groups do not match an image of shape {}",
                         graph::to_string(weights), groups, graph::to_string(in)));
  if (const auto sums = sums_of_convolution(b, of, w, groups)) return *sums;
  graph::Shape column(weights.size(), 1);
  column[0] = weights[0];
  return volume_convolution(b, less_zero_point(b, of.x, of.zero, {}),
                            less_zero_point(b, of.weights, of.weights_zero, column), {}, w, groups);
}

void conv_integer(Call& c) {
  c.out(0, integer_convolution(c, {c.in(0), c.in(1), optional_input(c, 2), optional_input(c, 3)}));
}

constexpr Rule kRules[] = {
    {"QuantizeLinear", 10, quantize_linear},
    {"DequantizeLinear", 10, dequantize_linear},
    {"QuantizeLinear", 1, quantize_linear, "com.microsoft"},
    {"DequantizeLinear", 1, dequantize_linear, "com.microsoft"},
    {"DynamicQuantizeMatMul", 1, dynamic_quantize_mat_mul, "com.microsoft"},
    {"DynamicQuantizeLinear", 11, dynamic_quantize_linear},
    {"MatMulInteger", 10, mat_mul_integer},
    {"ConvInteger", 10, conv_integer},
};

}  // namespace

}  // namespace quantize

void dynamic_convolution(Call& c) {
  Builder& b = c.b;
  const ByData q = by_data(b, c.in(0));
  Id sums = b.cast(quantize::integer_convolution(c, quantize::quantised_operands(c, q)), DType::kF32);
  Id out = b.binary("mul", sums, b.binary("mul", q.scale, b.reshape(c.in(2), {})));
  c.out(0, c.has(4) ? b.binary("add", out, c.in(4)) : out);
}

std::span<const Rule> quantize_rules() { return quantize::kRules; }

}  // namespace aotc::frontends::onnx
