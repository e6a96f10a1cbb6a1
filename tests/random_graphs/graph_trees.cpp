// SPDX-License-Identifier: Apache-2.0
#include "graph_trees.h"

#include <cstring>

namespace aotc::tests {

namespace {

using graph::Shape;
using graph::TensorId;
using graph::TensorType;

template <typename T>
TensorId table(GraphMaker& g, DType dtype, const Shape& shape, const std::vector<T>& values) {
  TensorType type;
  type.dtype = dtype;
  type.shape = shape;
  std::vector<uint8_t> bytes(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return g.made.add_constant("trees" + std::to_string(g.made.tensors.size()), type, std::move(bytes));
}

struct Tables {
  std::vector<int32_t> columns, nodes, trees;
  std::vector<float> thresholds;
};

// A tree of so many levels at most, depth first.
void grow(GraphMaker& g, Tables& t, int64_t levels, int64_t leaves) {
  const size_t at = t.nodes.size();
  if (levels == 0 || g.random.chance(20)) {
    t.nodes.insert(t.nodes.end(), {0, 0, static_cast<int32_t>(g.random.pick(0, leaves - 1))});
    return;
  }
  const auto column = static_cast<int32_t>(g.random.pick(0, static_cast<int64_t>(t.columns.size()) / 2 - 1));
  t.nodes.insert(t.nodes.end(), {column, 0, static_cast<int32_t>(t.thresholds.size())});
  t.thresholds.push_back(g.random.chance(10) ? 0.0f : g.random.real(-3.0f, 3.0f));
  grow(g, t, levels - 1, leaves);
  t.nodes[at + 1] = static_cast<int32_t>((t.nodes.size() - at) / 3);
  grow(g, t, levels - 1, leaves);
}

TensorId any_matrix(GraphMaker& g) {
  for (int tries = 0; tries < 8; ++tries) {
    TensorId id = g.any();
    const TensorType& type = g.of(id);
    if (type.dtype != DType::kF32 || type.shape.empty()) continue;
    if (type.shape.size() == 2) return id;
    const int64_t features = type.shape.back();
    const Shape rows = {type.elements() / features, features};
    if (g.add("reshape", {id}, {{"shape", graph::attribute_text::print(rows)}}, {type})) return g.last();
  }
  return {};
}

// How probable one class is against another, of so many classes that the elements are rows of.
bool make_coupled(GraphMaker& g) {
  TensorId in = any_matrix(g);
  if (!in.valid()) return false;
  const int64_t elements = g.of(in).elements();
  int64_t classes = g.random.pick(2, 5);
  while (elements % (classes * (classes - 1) / 2) != 0) --classes;
  const int64_t pairs = classes * (classes - 1) / 2;
  TensorType type = g.of(in);
  type.shape = {elements / pairs, pairs};
  if (!g.add("logistic", {in}, {}, {g.of(in)}) ||
      !g.add("reshape", {g.last()}, {{"shape", graph::attribute_text::print(type.shape)}}, {type}))
    return false;
  TensorType out = type;
  out.shape = {elements / pairs, classes};
  return g.add("coupled_probabilities", {g.last()}, {}, {out});
}

}  // namespace

bool make_trees(GraphMaker& g) {
  if (g.random.chance(20)) return make_coupled(g);
  TensorId in = any_matrix(g);
  if (!in.valid()) return false;
  Tables t;
  for (int64_t c = g.random.pick(1, 5), way = g.random.pick(0, 2); c > 0; --c)
    t.columns.insert(t.columns.end(), {static_cast<int32_t>(g.random.pick(0, g.of(in).shape[1] - 1)),
                                       static_cast<int32_t>(way == 2 ? g.random.pick(0, 1) : way)});
  const int64_t values = g.random.pick(1, 3), targets = values + g.random.pick(0, 1), leaves = g.random.pick(1, 6);
  for (int64_t tree = g.random.pick(1, 5); tree > 0; --tree) {
    t.trees.insert(t.trees.end(), {static_cast<int32_t>(t.nodes.size() / 3),
                                   static_cast<int32_t>(g.random.pick(0, targets - values))});
    grow(g, t, g.random.pick(0, 6), leaves);
  }
  auto rows = [](const auto& list, int64_t width) { return Shape{static_cast<int64_t>(list.size()) / width, width}; };
  TensorType held;
  held.dtype = DType::kF32;
  held.shape = {leaves, values};
  TensorId columns = table(g, DType::kI32, rows(t.columns, 2), t.columns);
  TensorId thresholds = table(g, DType::kF32, {static_cast<int64_t>(t.thresholds.size())}, t.thresholds);
  TensorId nodes = table(g, DType::kI32, rows(t.nodes, 3), t.nodes),
           trees = table(g, DType::kI32, rows(t.trees, 2), t.trees);
  TensorType out;
  out.dtype = DType::kF32;
  return g.add("tree_ensemble", {in, columns, thresholds, nodes, trees, g.constant(held)},
               {{"targets", std::to_string(targets)}}, {out});
}

}  // namespace aotc::tests
