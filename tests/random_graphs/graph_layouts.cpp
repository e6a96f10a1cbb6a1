// SPDX-License-Identifier: Apache-2.0
#include "graph_layouts.h"

#include <algorithm>

namespace aotc::tests {

namespace {

using graph::Shape;
using graph::TensorId;
using graph::TensorType;

std::string text_of(const Shape& values) { return graph::attribute_text::print(values); }

bool turn(GraphMaker& g, TensorId in, const Shape& order) {
  return g.add("transpose", {in}, {{"order", text_of(order)}}, {g.of(in)});
}

// A constant that broadcasts to the shape: one number for each plane, or any dimensions.
TensorId factor(GraphMaker& g, const TensorType& like) {
  Shape shape(like.shape.begin() + 1, like.shape.end());
  for (size_t d = 1; d < shape.size(); ++d)
    if (g.random.chance(70)) shape[d] = 1;
  TensorType type = like;
  type.shape = shape;
  return g.constant(type);
}

// A box out of planes, or all of them with a border.
bool cut_or_pad(GraphMaker& g, TensorId in) {
  const Shape& shape = g.of(in).shape;
  Shape begin, counts, ones(shape.size(), 1), before, after;
  for (int64_t d : shape) {
    begin.push_back(g.random.pick(0, std::min<int64_t>(1, d - 1)));
    counts.push_back(g.random.pick(1, d - begin.back()));
    before.push_back(g.random.pick(0, 1));
    after.push_back(g.random.pick(0, 1));
  }
  if (g.random.chance(60))
    return g.add("pad", {in}, {{"before", text_of(before)}, {"after", text_of(after)}}, {g.of(in)});
  return g.add(
      "slice", {in},
      {{"begin", text_of(begin)}, {"strides", text_of(ones)}, {"counts", text_of(counts)}, {"shape", text_of(counts)}},
      {g.of(in)});
}

bool step(GraphMaker& g, TensorId in, TensorId other) {
  const TensorType type = g.of(in);
  auto axis = std::to_string(g.random.pick(0, static_cast<int64_t>(type.shape.size()) - 1));
  bool planes = type.shape.size() == 4;
  switch (g.random.pick(0, 7)) {
    case 0:
      return g.add(g.random.chance(50) ? "maximum" : "minimum", {in, g.random.chance(50) ? in : factor(g, type)}, {},
                   {type});
    case 1:
      // A sum of what grows would leave the range that others rely on: of two that are bounded,
      // clamped.
      return g.add("add", {in, g.of(other).shape == type.shape ? other : factor(g, type)},
                   type.dtype == DType::kI32 ? Attributes{} : Attributes{{"activation", "relu6"}}, {type});
    case 2: return g.add("concatenation", {in, g.of(other) == type ? other : in}, {{"axis", axis}}, {type});
    case 3: return cut_or_pad(g, in);
    case 4:
      return planes &&
             g.add("mean", {in}, {{"axes", "[2, 3]"}, {"keep_dims", g.random.chance(50) ? "true" : "false"}}, {type});
    case 5: return g.add("arg_max", {in}, {{"axis", axis}}, {g.type(DType::kI32, {})});
    case 6:
      return planes &&
             g.add("reshape", {in}, {{"shape", text_of({type.shape[0], type.shape[1], type.shape[2] * type.shape[3]})}},
                   {type});
    default: return g.add("relu", {in}, {}, {type});
  }
}

}  // namespace

bool make_planes(GraphMaker& g) {
  TensorId in = g.any();
  for (int tries = 0; tries < 8 && g.of(in).shape.size() != 4; ++tries) in = g.any();
  if (g.of(in).shape.size() != 4 || !g.bounded(in) || !turn(g, in, {0, 3, 1, 2})) return false;
  TensorId first = g.last();
  for (int64_t steps = g.random.pick(1, 4); steps > 0; --steps) {
    TensorId from = g.last();
    if (g.of(from).shape.size() < 2 || !g.bounded(from)) break;
    step(g, from, first);
  }
  if (g.of(g.last()).shape.size() == 4 && g.random.chance(90)) turn(g, g.last(), {0, 2, 3, 1});
  return true;
}

}  // namespace aotc::tests
