// SPDX-License-Identifier: Apache-2.0
#include "graph_products.h"

#include <cstring>

namespace aotc::tests {

using graph::Shape;
using graph::TensorId;

namespace {

std::string list(const Shape& values) { return graph::attribute_text::print(values); }

bool is_main(const GraphMaker& g, TensorId id) {
  return g.of(id).dtype == g.main_type && (g.main_type == DType::kF32 || g.main_type == DType::kI8);
}

// A tensor of this shape if there is one, else a constant.
TensorId weights(GraphMaker& g, DType dtype, const Shape& shape) {
  for (TensorId id : g.known)
    if (g.of(id).dtype == dtype && g.of(id).shape == shape && g.of(id).zero_point() == 0 && g.random.chance(70))
      return id;
  graph::TensorType type = g.type(dtype, shape);
  for (int64_t& zero : type.quantization.zero_point) zero = 0;
  return g.constant(type);
}

bool rows(GraphMaker& g, const std::string& activation) {
  TensorId in = g.any();
  if (!is_main(g, in) || g.of(in).shape.empty()) return false;
  const Shape shape = {g.random.pick(1, 4), g.of(in).shape.back()};
  return g.add("fully_connected_computed", {in, weights(g, g.main_type, shape)}, {{"activation", activation}},
               {g.type(g.main_type, {})});
}

template <typename T>
TensorId constant_of(GraphMaker& g, DType dtype, const Shape& shape, const std::vector<T>& values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  graph::TensorType type;
  type.dtype = dtype;
  type.shape = shape;
  return g.made.add_constant("c" + std::to_string(g.made.tensors.size()), std::move(type), std::move(bytes));
}

bool blocks(GraphMaker& g, const std::string& activation) {
  TensorId in = g.any();
  if (g.of(in).dtype != DType::kF32 || g.of(in).shape.empty() || g.of(in).shape.back() % 2 != 0) return false;
  const int64_t depth = g.of(in).shape.back(), units = g.random.pick(1, 5);
  const int64_t count = depth % 4 == 0 && g.random.chance(70) ? 2 : depth % 6 == 0 ? 3 : 1;
  std::vector<int8_t> weights;
  std::vector<float> scales;
  for (int64_t i = 0; i < units * depth; ++i) weights.push_back(static_cast<int8_t>(g.random.pick(-8, 7)));
  for (int64_t i = 0; i < units * count; ++i) scales.push_back(g.random.real(0.0f, 0.1f));
  std::vector<TensorId> operands = {in, constant_of(g, DType::kI4, {units, depth}, weights),
                                    constant_of(g, DType::kF32, {units, count}, scales)};
  if (g.random.chance(50)) operands.push_back(g.constant(g.type(DType::kF32, {units})));
  return g.add("fully_connected_blocks", operands, {{"activation", activation}}, {g.type(DType::kF32, {})});
}

bool dequantized(GraphMaker& g, const std::string& activation) {
  TensorId in = g.any();
  if (g.of(in).dtype != DType::kF32 || g.of(in).shape.empty()) return false;
  const int64_t depth = g.of(in).shape.back(), units = g.random.pick(1, 11);
  const int64_t count = depth % 4 == 0 && g.random.chance(50) ? 2 : depth % 3 == 0 && g.random.chance(50) ? 3 : 1;
  const bool nibbles = g.random.chance(50), zeros = g.random.chance(40);
  const int most = nibbles ? 7 : 127;
  std::vector<int8_t> weights, zero_points;
  std::vector<float> scales;
  for (int64_t i = 0; i < units * depth; ++i) weights.push_back(static_cast<int8_t>(g.random.pick(-most - 1, most)));
  for (int64_t i = 0; i < units * count; ++i) {
    scales.push_back(g.random.real(0.0f, 0.1f));
    zero_points.push_back(static_cast<int8_t>(zeros ? g.random.pick(-most - 1, most) : 0));
  }
  std::vector<TensorId> operands = {in, constant_of(g, nibbles ? DType::kI4 : DType::kI8, {units, depth}, weights),
                                    constant_of(g, DType::kF32, {units, count}, scales),
                                    constant_of(g, DType::kI8, {units, count}, zero_points)};
  if (g.random.chance(50)) operands.push_back(g.constant(g.type(DType::kF32, {units})));
  return g.add("fully_connected_dequantized", operands, {{"activation", activation}}, {g.type(DType::kF32, {})});
}

bool image(GraphMaker& g, const std::string& activation) {
  TensorId in = g.any();
  if (!is_main(g, in) || g.of(in).shape.size() != 4) return false;
  const Shape shape = {g.random.pick(1, 3), g.random.pick(1, 2), g.random.pick(1, 2), g.of(in).shape[3]};
  return g.add("conv_2d_computed", {in, weights(g, g.main_type, shape)},
               {{"pad_top", std::to_string(g.random.pick(0, 1))}, {"activation", activation}},
               {g.type(g.main_type, {})});
}

bool volume(GraphMaker& g, const std::string& activation) {
  TensorId in = g.any();
  const DType type = g.of(in).dtype;
  if ((type != DType::kF32 && type != DType::kI8 && type != DType::kI32) || g.of(in).shape.size() > 5) return false;
  Shape shape(5 - g.of(in).shape.size(), 1);
  shape.insert(shape.end(), g.of(in).shape.begin(), g.of(in).shape.end());
  if (shape.size() != g.of(in).shape.size()) {
    if (!g.add("reshape", {in}, {{"shape", list(shape)}}, {g.of(in)})) return false;
    in = g.last();
  }
  const int64_t channels = g.random.pick(1, 3);
  Shape kernel = {g.random.pick(1, 2), g.random.pick(1, 2), g.random.pick(1, 2), shape[4], channels};
  const bool sums = type != DType::kF32;
  if (sums || g.random.chance(50))
    return g.add(sums ? "conv_3d_sums" : "conv_3d", {in, weights(g, type, kernel)},
                 {{"pads_before", "[1,0,1]"}, {"pads_after", "[1,1,0]"}, {"activation", sums ? "none" : activation}},
                 {g.type(sums ? DType::kI32 : type, {})});
  std::swap(kernel[3], kernel[4]);
  const Shape out = {shape[1] * 2, shape[2] + 1, shape[3]};
  return g.add("conv_3d_transpose", {in, weights(g, DType::kF32, kernel)},
               {{"shape", list(out)}, {"strides", "[2,1,1]"}, {"activation", activation}}, {g.type(DType::kF32, {})});
}

// Queries are a tensor as it lies, in heads that stand in front of rows or behind them; keys and values another, if one
// is large enough, or the queries themselves.
bool attention(GraphMaker& g, const std::string&) {
  const TensorId in = g.any();
  const int64_t elements = g.of(in).elements();
  if (g.of(in).dtype != DType::kF32 || elements < 1 || elements > 512) return false;
  auto divisor = [&](int64_t of) {
    const int64_t wanted = g.random.pick(1, 6);
    return of % wanted == 0 ? wanted : 1;
  };
  const int64_t depth = divisor(elements), heads = divisor(elements / depth), queries = elements / depth / heads;
  const int64_t shared = heads % 2 == 0 && g.random.chance(30) ? 2 : 1, keys = g.random.pick(1, 5);
  const int64_t values = g.random.chance(60) ? depth : g.random.pick(1, 5), sets = heads / shared;
  auto laid = [&](int64_t rows, int64_t columns, int64_t of) {
    const bool heads_first = g.random.chance(50);
    const int64_t head = heads_first ? rows * columns : columns, row = heads_first ? columns : of * columns;
    return of == heads ? Shape{shared * head, head, row, 1} : Shape{head, 0, row, 1};
  };
  auto other = [&](int64_t wanted) {
    const TensorId any = g.random.chance(20) ? in : g.any();
    return g.of(any).dtype == DType::kF32 && g.of(any).elements() >= wanted ? any
                                                                            : g.constant(g.type(DType::kF32, {wanted}));
  };
  std::vector<TensorId> operands = {in, other(sets * keys * depth), other(sets * keys * values)};
  const bool masked = g.random.chance(50), truths = masked && g.random.chance(50),
             replaces = truths && g.random.chance(50);
  if (masked) operands.push_back(truths ? g.constant(g.type(DType::kBool, {queries * keys})) : other(queries * keys));
  const std::string zero = masked && !replaces && g.random.chance(30) ? "hidden"
                           : g.random.chance(30)                      ? "not_numbers"
                                                                      : "none";
  const Shape query_steps = laid(queries, depth, heads);
  const Shape result_steps = depth == values && g.random.chance(60) ? query_steps : laid(queries, values, heads);
  return g.add("attention", operands,
               {{"shape", list({heads * queries, values})},
                {"batch", list({sets, shared})},
                {"queries", std::to_string(queries)},
                {"keys", std::to_string(keys)},
                {"depth", std::to_string(depth)},
                {"values", std::to_string(values)},
                {"query_steps", list(query_steps)},
                {"key_steps", list(laid(keys, depth, sets))},
                {"value_steps", list(laid(keys, values, sets))},
                {"mask_steps", list({0, 0, keys, 1})},
                {"result_steps", list(result_steps)},
                {"scale", g.random.chance(50) ? "1" : "0.5"},
                {"softcap", g.random.chance(70) ? "0" : "2.5"},
                {"hides", g.random.chance(50) ? "true" : "false"},
                {"replaces", replaces ? "true" : "false"},
                {"hidden", zero != "none" && g.random.chance(50) ? "-inf" : "-1000"},
                {"zero", zero}},
               {g.type(DType::kF32, {})});
}

}  // namespace

bool make_product(GraphMaker& graph, const std::string& activation) {
  using Make = bool (*)(GraphMaker&, const std::string&);
  static constexpr Make kMakers[] = {rows, image, volume, blocks, dequantized, attention};
  return kMakers[graph.random.pick(0, std::size(kMakers) - 1)](graph, activation);
}

}  // namespace aotc::tests
