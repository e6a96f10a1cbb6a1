// SPDX-License-Identifier: Apache-2.0
// Decision trees: what tables may not say, and that floats are compared exactly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "ops/common/lowered_evaluation.h"
#include "ops/lowering.h"
#include "ops/operator.h"
#include "ops/trees/attributes.h"

namespace aotc::ops {
namespace {

using testing::HasSubstr;
using Ints = std::vector<int32_t>;
using Floats = std::vector<float>;

struct Trees {
  Ints columns = {0, 0}, nodes = {0, 2, 0, 0, 0, 0, 0, 0, 1}, roots = {0, 0};
  Floats thresholds = {0.5f}, leaves = {10, 20};
  int32_t targets = 1;
};

template <typename T>
graph::TensorId table(graph::Graph& graph, DType dtype, graph::Shape shape, const std::vector<T>& values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  graph::TensorType type;
  type.dtype = dtype;
  type.shape = std::move(shape);
  return graph.add_constant("table", type, std::move(bytes));
}

graph::Graph graph_of(const Trees& t, int64_t rows, int64_t features) {
  graph::Graph graph;
  auto value = [&](graph::Shape shape) {
    graph::Tensor made;
    made.type.dtype = DType::kF32;
    made.type.shape = std::move(shape);
    return graph.add_tensor(std::move(made));
  };
  auto rows_of = [](const auto& list, int64_t width) {
    return graph::Shape{static_cast<int64_t>(list.size()) / width, width};
  };
  auto attrs = std::make_shared<TreeEnsembleAttrs>();
  attrs->targets = t.targets;
  graph::Op op;
  op.definition = operators().find("tree_ensemble");
  op.attributes = attrs;
  op.operands = {value({rows, features}),
                 table(graph, DType::kI32, rows_of(t.columns, 2), t.columns),
                 table(graph, DType::kF32, {static_cast<int64_t>(t.thresholds.size())}, t.thresholds),
                 table(graph, DType::kI32, rows_of(t.nodes, 3), t.nodes),
                 table(graph, DType::kI32, rows_of(t.roots, 2), t.roots),
                 table(graph, DType::kF32, rows_of(t.leaves, 1), t.leaves)};
  op.results = {value({rows, t.targets})};
  graph.ops.push_back(std::move(op));
  return graph;
}

std::string refused(const Trees& t) {
  graph::Graph graph = graph_of(t, 1, 2);
  Diagnostics diags;
  return definition_of(graph.ops[0]).verify({graph, graph.ops[0]}, diags).ok() ? "" : diags.str();
}

TEST(Trees, ThatLeadOutsideAreRefused) {
  EXPECT_EQ(refused({}), "");
  for (const Ints& nodes : {Ints{0, 3, 0, 0, 0, 0, 0, 0, 1},   // skips to behind the last
                            Ints{0, -1, 0, 0, 0, 0, 0, 0, 1},  // backwards
                            Ints{1, 2, 0, 0, 0, 0, 0, 0, 1},   // no such column
                            Ints{0, 2, 1, 0, 0, 0, 0, 0, 1},   // no such threshold
                            Ints{0, 2, 0, 0, 0, 0, 0, 0, 2},   // no such leaf
                            Ints{0, 2, 0, 0, 0, 0, 0, 1, 0}})  // ends without a leaf
    EXPECT_THAT(refused({.nodes = nodes}), HasSubstr("leads nowhere"));
  EXPECT_THAT(refused({.columns = {2, 0}}), HasSubstr("column 0 is of no feature"));
  EXPECT_THAT(refused({.columns = {0, 2}}), HasSubstr("column 0 is of no feature"));
  EXPECT_THAT(refused({.roots = {3, 0}}), HasSubstr("tree 0 begins or ends nowhere"));
  EXPECT_THAT(refused({.roots = {0, 1}}), HasSubstr("tree 0 begins or ends nowhere"));
  EXPECT_THAT(refused({.thresholds = {std::nanf("")}}), HasSubstr("a threshold is not a number"));
}

std::vector<TargetInfo> targets() {
  std::vector<TargetInfo> out;
  for (Level level : {Level::kSize, Level::kBalanced, Level::kSpeed})
    for (bool harvard : {false, true}) {
      out.emplace_back();
      out.back().level = level;
      out.back().harvard = harvard;
    }
  return out;
}

// As evaluation has it, or as the lowering for a target.
Floats run(const Trees& t, const Floats& x, const TargetInfo* target) {
  graph::Graph graph = graph_of(t, static_cast<int64_t>(x.size()), 1);
  Floats out(x.size());
  EvalData data;
  auto bytes = [](const Floats& v) { return std::span(reinterpret_cast<const uint8_t*>(v.data()), v.size() * 4); };
  data.operands.push_back(bytes(x));
  for (size_t i = 1; i < 6; ++i) data.operands.push_back(graph[graph.ops[0].operands[i]].constant->bytes);
  data.results.push_back({reinterpret_cast<uint8_t*>(out.data()), out.size() * 4});
  const OpView view{graph, graph.ops[0]};
  if (target != nullptr) evaluate_lowering(view, data, *target);
  else definition_of(graph.ops[0]).evaluate(view, data);
  return out;
}

TEST(Trees, CompareEveryFloatExactly) {
  const float inf = std::numeric_limits<float>::infinity(), least = std::numeric_limits<float>::denorm_min();
  Floats x = {0.0f, -0.0f, least, -least, inf, -inf, std::nanf(""), -std::nanf(""), 1e-20f, -3.5f};
  for (float t : {0.5f, -3.5f, 1e-20f}) x.insert(x.end(), {t, std::nextafter(t, inf), std::nextafter(t, -inf)});
  for (int32_t nan : {0, 1})
    for (float threshold : x) {
      if (std::isnan(threshold)) continue;
      const Trees trees{.columns = {0, nan}, .thresholds = {threshold}};
      Floats want;
      for (float v : x) want.push_back((std::isnan(v) ? nan == 1 : v <= threshold) ? 10.0f : 20.0f);
      for (const TargetInfo& target : targets()) EXPECT_EQ(run(trees, x, &target), want) << threshold;
      EXPECT_EQ(run(trees, x, nullptr), want) << threshold;
    }
}

// What does not fit a word has a table for each part, and trees of several depths how deep they are.
TEST(Trees, OfManyNodes) {
  Trees t;
  t.nodes.clear();
  t.leaves.clear();
  t.thresholds.clear();
  constexpr int32_t kSteps = 300;
  // x <= 0, x <= 1, ...: each leads to a leaf of its own.
  for (int32_t i = 0; i < kSteps; ++i) {
    t.nodes.insert(t.nodes.end(), {0, 2, i, 0, 0, i});
    t.thresholds.push_back(static_cast<float>(i));
    t.leaves.push_back(static_cast<float>(i));
  }
  t.nodes.insert(t.nodes.end(), {0, 0, kSteps});
  t.leaves.push_back(1000);
  t.roots = {0, 0, 6, 0, 2 * kSteps, 0};
  Floats x = {-1, 0, 0.5f, 1, 7, 298.5f, 299, 299.5f}, want;
  for (float v : x) {
    auto first = [&](float from) { return v > kSteps - 1 ? 1000.0f : std::max(from, std::ceil(v)); };
    want.push_back(first(0) + first(3) + 1000);
  }
  for (const TargetInfo& target : targets()) EXPECT_EQ(run(t, x, &target), want);
  EXPECT_EQ(run(t, x, nullptr), want);
}

// A tree of so many levels; `missing` says which nodes, counted as in a heap, are leaves already.
void grow(Trees& t, int32_t left, int32_t at, const std::function<bool(int32_t)>& missing) {
  if (left == 0 || missing(at)) {
    t.nodes.insert(t.nodes.end(), {0, 0, static_cast<int32_t>(t.leaves.size())});
    t.leaves.push_back(static_cast<float>(t.leaves.size() % 7 * 3));
    return;
  }
  const size_t node = t.nodes.size();
  t.nodes.insert(t.nodes.end(), {at % 2, 0, static_cast<int32_t>(t.thresholds.size())});
  t.thresholds.push_back(static_cast<float>(at * 37 % 64 - 20));
  grow(t, left - 1, 2 * at + 1, missing);
  t.nodes[node + 1] = static_cast<int32_t>((t.nodes.size() - node) / 3);
  grow(t, left - 1, 2 * at, missing);
}

Trees grown(const std::vector<int32_t>& levels, const std::function<bool(int32_t)>& missing) {
  Trees t;
  t.nodes.clear(), t.leaves.clear(), t.thresholds.clear(), t.roots.clear();
  t.columns = {0, 1, 0, 0};
  for (int32_t depth : levels) {
    t.roots.insert(t.roots.end(), {static_cast<int32_t>(t.nodes.size() / 3), 0});
    grow(t, depth, 1, missing);
  }
  return t;
}

Floats samples() {
  const float inf = std::numeric_limits<float>::infinity();
  Floats x = {std::nanf(""), inf, -inf, -0.0f};
  for (int i = -25; i < 50; ++i) x.insert(x.end(), {static_cast<float>(i), static_cast<float>(i) + 0.5f});
  return x;
}

Lowered lowered(const Trees& t, const TargetInfo& target) {
  graph::Graph graph = graph_of(t, 1, 1);
  return definition_of(graph.ops[0]).lower(OpView{graph, graph.ops[0]}, target);
}

bool has_table(const Lowered& l, std::string_view name) {
  return std::any_of(l.constants.begin(), l.constants.end(), [&](const Constant& c) { return c.name == name; });
}

size_t flash(const Lowered& l) {
  size_t out = 0;
  for (const Constant& c : l.constants) out += c.bytes.size();
  return out;
}

// Trees of which most nodes are there go level by level, those with nodes missing further down in pairs from there on,
// others node by node; all as evaluation has it, and the less the level of -O cares for flash, the more of it.
TEST(Trees, FullInTheirFirstLevelsOrNot) {
  auto never = [](int32_t) { return false; };
  auto odd = [](int32_t at) { return at > 1 && at % 2 == 1; };
  auto late = [](int32_t at) { return at > 15 && at % 3 != 0; };
  for (const Trees& t : {grown({1, 1, 1}, never), grown({5, 5, 5}, never), grown({5, 6, 5}, odd),
                         grown({8, 7, 8, 2}, late), grown({12, 12}, late), grown({0, 3, 9}, late)}) {
    size_t least = 0;
    for (const TargetInfo& target : targets()) {
      EXPECT_EQ(run(t, samples(), &target), run(t, samples(), nullptr));
      if (target.harvard) continue;
      EXPECT_GE(flash(lowered(t, target)), least);
      least = flash(lowered(t, target));
    }
  }
  TargetInfo size, speed;
  size.level = Level::kSize, speed.level = Level::kSpeed;
  for (const TargetInfo& target : targets())
    EXPECT_FALSE(has_table(lowered(grown({5, 5, 5}, never), target), "below") && !target.harvard);
  EXPECT_TRUE(has_table(lowered(grown({8, 8, 8}, late), size), "below"));
  EXPECT_TRUE(has_table(lowered(grown({8, 8, 8}, late), size), "words"));
  EXPECT_THAT(lowered(grown({6, 6, 6}, odd), speed).schedule.note, HasSubstr("by level"));
}

// Values that many leaves have are there once where flash counts.
TEST(Trees, ShareValuesOfLeavesForSize) {
  Trees t = grown({9, 9}, [](int32_t) { return false; });
  ASSERT_EQ(t.leaves.size(), 1024u);
  TargetInfo size;
  size.level = Level::kSize;
  EXPECT_TRUE(has_table(lowered(t, size), "values_of"));
  EXPECT_FALSE(has_table(lowered(t, {}), "values_of"));
  EXPECT_EQ(run(t, samples(), &size), run(t, samples(), nullptr));
}

}  // namespace
}  // namespace aotc::ops
