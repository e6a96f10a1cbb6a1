// SPDX-License-Identifier: Apache-2.0
#include "graph_maker.h"

#include <algorithm>
#include <cstring>
#include <set>

#include <fmt/format.h>

#include "ops/operator.h"

namespace aotc::tests {

using graph::Shape;
using graph::TensorId;
using graph::TensorType;

namespace {

constexpr int64_t kMostElements = 3000;

}  // namespace

uint64_t Random::next() {
  uint64_t z = (state_ += 0x9E3779B97F4A7C15ull);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

int64_t Random::pick(int64_t least, int64_t most) {
  return least + static_cast<int64_t>(next() % static_cast<uint64_t>(most - least + 1));
}

float Random::real(float least, float most) {
  return least + (most - least) * static_cast<float>(next() >> 40) / 16777216.0f;
}

std::vector<uint8_t> random_bytes(Random& random, const TensorType& type) {
  std::vector<uint8_t> out(static_cast<size_t>(type.bytes()));
  for (size_t i = 0; i < out.size(); i += static_cast<size_t>(size_of(type.dtype))) {
    if (type.dtype == DType::kF32) {
      float v = random.real(-3.0f, 3.0f);
      if (random.chance(3)) v = 0.0f;
      std::memcpy(&out[i], &v, 4);
    } else if (type.dtype == DType::kI32 || type.dtype == DType::kI64) {
      // What casts to it and sums of it stay far from overflow.
      int64_t v = random.pick(-20000, 20000);
      std::memcpy(&out[i], &v, static_cast<size_t>(size_of(type.dtype)));
    } else {
      uint64_t v = random.next();
      if (type.dtype == DType::kBool) v &= 1;
      std::memcpy(&out[i], &v, static_cast<size_t>(size_of(type.dtype)));
    }
  }
  return out;
}

GraphMaker::GraphMaker(Random& draws, DType type, const std::string& name) : random(draws), main_type(type) {
  made.name = name;
  made.source_file = name;
}

TensorId GraphMaker::add_input(const TensorType& type) {
  TensorId id = made.add_tensor({fmt::format("in{}", made.inputs.size()), type, {}, 0});
  made.inputs.push_back({id, made[id].name});
  known.push_back(id);
  return id;
}

bool GraphMaker::add(const char* name, std::vector<TensorId> operands, const Attributes& attributes,
                     std::vector<TensorType> results, std::vector<graph::Graph> regions) {
  const ops::Operator* definition = ops::operators().find(name);
  if (definition == nullptr) return false;
  size_t tensors = made.tensors.size();
  graph::Op op;
  op.definition = definition;
  op.location.file = made.source_file;
  op.location.op_index = static_cast<int>(made.ops.size());
  auto attrs = definition->default_attributes();
  for (const auto& [key, value] : attributes)
    if (!attrs->parse(key, value)) return false;
  op.attributes = attrs;
  op.operands = std::move(operands);
  op.regions = std::move(regions);
  for (TensorType& t : results)
    op.results.push_back(made.add_tensor({fmt::format("{}_{}", name, made.tensors.size()), t, {}, 0}));
  if (settle(op)) {
    for (TensorId id : op.results) known.push_back(id);
    made.ops.push_back(std::move(op));
    return true;
  }
  made.tensors.resize(tensors);
  return false;
}

bool GraphMaker::settle(const graph::Op& op) {
  Diagnostics refused;
  auto shapes = ops::definition_of(op).infer({made, op}, refused);
  if (!shapes || shapes->size() != op.results.size()) return false;
  for (size_t i = 0; i < shapes->size(); ++i) {
    int64_t count = 1;
    for (int64_t d : (*shapes)[i]) {
      if (d < 1 || d > kMostElements) return false;
      count *= d;
      if (count > kMostElements) return false;
    }
    made[op.results[i]].type.shape = (*shapes)[i];
  }
  return ops::definition_of(op).verify({made, op}, refused).ok();
}

Shape GraphMaker::random_shape() {
  static const Shape kImages[] = {{1, 5, 6, 3}, {1, 8, 8, 4}, {1, 1, 1, 7}, {2, 4, 3, 2}, {1, 7, 1, 8}};
  if (random.chance(70)) return kImages[random.pick(0, 4)];
  Shape out;
  for (int64_t i = random.pick(0, 4); i > 0; --i) out.push_back(random.pick(1, 6));
  return out;
}

TensorType GraphMaker::type(DType dtype, Shape shape) {
  TensorType t;
  t.dtype = dtype;
  t.shape = std::move(shape);
  if (dtype == DType::kI8 || dtype == DType::kU8 || dtype == DType::kI16) {
    float scale = random.chance(25) ? 0.05f : random.real(0.005f, 0.2f);
    int64_t zero = dtype == DType::kI16 ? 0 : random.pick(-128, 127);
    if (dtype == DType::kU8) zero += 128;
    t.quantization = {{scale}, {zero}, 0};
  }
  return t;
}

TensorId GraphMaker::constant(TensorType t) {
  auto bytes = random_bytes(random, t);
  return made.add_constant(fmt::format("c{}", made.tensors.size()), std::move(t), std::move(bytes));
}

TensorId GraphMaker::any() {
  // A region may have no inputs.
  if (known.empty()) {
    TensorType t = type(main_type, random_shape());
    if (!add("reshape", {constant(t)}, {{"shape", graph::attribute_text::print(Shape{t.elements()})}}, {t}))
      known.push_back(constant(t));
  }
  auto n = static_cast<int64_t>(known.size());
  int64_t least = random.chance(60) ? std::max<int64_t>(0, n - 3) : 0;
  return known[static_cast<size_t>(random.pick(least, n - 1))];
}

TensorId GraphMaker::any_of(const TensorType& wanted) {
  std::vector<TensorId> fitting;
  for (TensorId id : known)
    if (of(id) == wanted && bounded(id)) fitting.push_back(id);
  if (fitting.empty()) return {};
  auto n = static_cast<int64_t>(fitting.size());
  int64_t least = random.chance(50) ? std::max<int64_t>(0, n - 2) : 0;
  return fitting[static_cast<size_t>(random.pick(least, n - 1))];
}

bool GraphMaker::bounded(TensorId id) const {
  static const std::set<std::string_view> kKeeps = {"maximum",
                                                    "minimum",
                                                    "relu",
                                                    "reshape",
                                                    "slice",
                                                    "transpose",
                                                    "split",
                                                    "pack",
                                                    "unpack",
                                                    "pad",
                                                    "max_pool_2d",
                                                    "concatenation",
                                                    "dequantize",
                                                    "cast",
                                                    "quantize",
                                                    "if",
                                                    "while",
                                                    "resize_nearest_neighbor",
                                                    "reverse_v2",
                                                    "tile",
                                                    "broadcast_to",
                                                    "mirror_pad",
                                                    "depth_to_space",
                                                    "space_to_depth",
                                                    "gather",
                                                    "gather_nd",
                                                    "fill",
                                                    "embedding_lookup",
                                                    "dynamic_update_slice",
                                                    "resize_bilinear",
                                                    "space_to_batch_nd",
                                                    "batch_to_space_nd",
                                                    "matrix_diag",
                                                    "matrix_set_diag",
                                                    "one_hot",
                                                    "topk_v2",
                                                    "reverse_sequence",
                                                    "unique",
                                                    "unique_rows"};
  static const std::set<std::string_view> kBounds = {"relu6",
                                                     "relu_n1_to_1",
                                                     "tanh",
                                                     "softmax",
                                                     "logistic",
                                                     "arg_max",
                                                     "arg_min",
                                                     "where",
                                                     "non_max_suppression",
                                                     "class_suppression"};
  DType dtype = of(id).dtype;
  if (dtype != DType::kF32 && dtype != DType::kI32 && dtype != DType::kI64) return true;
  for (const graph::Op& op : made.ops) {
    if (std::find(op.results.begin(), op.results.end(), id) == op.results.end()) continue;
    if (kBounds.contains(op.name())) return true;
    for (const auto& [key, value] : op.attributes->print())
      if (key == "activation" && value != "none" && value != "relu") return true;
    return kKeeps.contains(op.name()) &&
           std::all_of(op.operands.begin(), op.operands.end(), [&](TensorId operand) { return bounded(operand); });
  }
  return true;
}

}  // namespace aotc::tests
