// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "passes/layout.h"
#include "passes/min_cut.h"
#include "test_operators.h"

namespace aotc::passes {
namespace {

std::string graph_of(const std::string& body) { return "graph \"g\" {\n" + body + "}\n"; }

Names after(const std::string& body) { return op_names(run_on("move-transposes", graph_of(body))); }

TEST(MoveTransposes, ComposesAndCancels) {
  // Two that are one, a third that takes both back, and the same one twice.
  EXPECT_EQ(after(R"(  input %0 "x" i8[2x3x4] quant(1, 0)
  %1 "a" i8[3x4x2] quant(1, 0) = transpose(%0) {order = [1, 2, 0]}
  %2 "b" i8[4x3x2] quant(1, 0) = transpose(%1) {order = [1, 0, 2]}
  %3 "c" i8[2x3x4] quant(1, 0) = transpose(%2) {order = [2, 1, 0]}
  %4 "again" i8[4x3x2] quant(1, 0) = transpose(%0) {order = [2, 1, 0]}
  %5 "sum" i8[2x3x4] quant(1, 0) = add(%3, %0)
  %6 "other" i8[4x3x2] quant(1, 0) = add(%2, %4)
  output %5
  output %6
)"),
            (Names{"add", "transpose", "add"}));
}

TEST(MoveTransposes, TakesAwayAnyNumber) {
  // Layers of planes around pools of images: what is left is in front of the first pool and behind the last layer.
  constexpr int kLayers = 1200;
  std::string body = "  input %0 \"x\" f32[1x4x6x8]\n";
  for (int i = 0; i < kLayers; ++i)
    body += fmt::format(R"(  %{1} "a" f32[1x6x8x4] = transpose(%{0}) {{order = [0, 2, 3, 1]}}
  %{2} "b" f32[1x6x8x4] = max_pool_2d(%{1}) {{filter_h = 1, filter_w = 1}}
  %{3} "c" f32[1x4x6x8] = transpose(%{2}) {{order = [0, 3, 1, 2]}}
  %{4} "d" f32[1x4x6x8] = relu(%{3})
)",
                        4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3, 4 * i + 4);
  const Names names = after(body + fmt::format("  output %{}\n", 4 * kLayers));
  EXPECT_EQ(std::count(names.begin(), names.end(), "transpose"), 2);
  EXPECT_EQ(std::count(names.begin(), names.end(), "relu"), kLayers);
}

TEST(MoveTransposes, GivesOutputsStorageOfTheirOwn) {
  // What comes back to an input, and two outputs of one transpose.
  EXPECT_EQ(after(R"(  input %0 "x" i8[2x3] quant(1, 0)
  %1 "a" i8[3x2] quant(1, 0) = transpose(%0) {order = [1, 0]}
  %2 "b" i8[2x3] quant(1, 0) = transpose(%1) {order = [1, 0]}
  %3 "c" i8[3x2] quant(1, 0) = transpose(%0) {order = [1, 0]}
  output %1
  output %2
  output %3
)"),
            (Names{"transpose", "reshape", "reshape"}));
}

TEST(MoveTransposes, AnOperatorWritesTheOutputInItsOrder) {
  graph::Graph graph = run_on("move-transposes", graph_of(R"(  input %0 "x" i8[2x3] quant(1, 0)
  %1 "a" i8[3x2] quant(1, 0) = transpose(%0) {order = [1, 0]}
  %2 "r" i8[3x2] quant(1, 0) = relu(%1)
  %3 "y" i8[2x3] quant(1, 0) = transpose(%2) {order = [1, 0]}
  output %3
)"));
  EXPECT_EQ(op_names(graph), (Names{"relu"}));
  EXPECT_EQ(graph[graph.ops[0].results[0]].name, "y");
}

TEST(MoveTransposes, StatesKeepTheirOrder) {
  // The state is read and written in one order, the operators between work in the other.
  EXPECT_EQ(after(R"(  input %0 "x" i8[2x3] quant(1, 0)
  state %1 "s" i8[2x3] quant(1, 0) = [1, 2, 3, 4, 5, 6]
  %2 "a" i8[3x2] quant(1, 0) = transpose(%1) {order = [1, 0]}
  %3 "b" i8[3x2] quant(1, 0) = relu(%2)
  %4 "c" i8[2x3] quant(1, 0) = transpose(%3) {order = [1, 0]}
  %5 "d" i8[2x3] quant(1, 0) = add(%4, %0)
  %6 "y" i8[2x3] quant(1, 0) = add(%1, %0)
  next %1 = %5
  output %6
)"),
            (Names{"relu", "add", "add"}));
}

TEST(MoveTransposes, WorksInRegions) {
  graph::Graph graph = run_on("move-transposes", graph_of(R"(  input %0 "x" i8[2x3] quant(1, 0)
  const %1 "c" bool[] = [true]
  %2 "y" i8[2x3] quant(1, 0) = if(%1, %0) region "then" {
    input %0 "x" i8[2x3] quant(1, 0)
    %1 "a" i8[3x2] quant(1, 0) = transpose(%0) {order = [1, 0]}
    %2 "b" i8[3x2] quant(1, 0) = relu(%1)
    %3 "c" i8[2x3] quant(1, 0) = transpose(%2) {order = [1, 0]}
    output %3
  } region "else" {
    input %0 "x" i8[2x3] quant(1, 0)
    %1 "a" i8[3x2] quant(1, 0) = transpose(%0) {order = [1, 0]}
    %2 "b" i8[2x3] quant(1, 0) = transpose(%1) {order = [1, 0]}
    output %2
  }
  output %2
)"));
  ASSERT_EQ(op_names(graph), (Names{"if"}));
  EXPECT_EQ(op_names(graph.ops[0].regions[0]), (Names{"relu"}));
  EXPECT_EQ(op_names(graph.ops[0].regions[1]), (Names{"reshape"}));
}

// A transpose, then `name`, then the transpose back.
Names between(const std::string& type, const std::string& order, const std::string& op, const std::string& from,
              const std::string& to, const std::string& back) {
  return after(fmt::format(R"(  input %0 "x" {0}[1x2x3x4]{1}
  %1 "a" {0}[{2}]{1} = transpose(%0) {{order = [{3}]}}
  %2 "b" {0}[{4}]{1} = {5}
  %3 "y" {0}[1x2x3x4]{1} = transpose(%2) {{order = [{6}]}}
  output %3
)",
                           type, type == "i8" ? " quant(0.00390625, -128)" : "", from, order, to, op, back));
}

TEST(MoveTransposes, RowsOfSoftmaxStayRows) {
  EXPECT_EQ(between("i8", "0, 2, 1, 3", "softmax(%1)", "1x3x2x4", "1x3x2x4", "0, 2, 1, 3"), (Names{"softmax"}));
  EXPECT_EQ(between("i8", "0, 2, 3, 1", "softmax(%1)", "1x3x4x2", "1x3x4x2", "0, 3, 1, 2"),
            (Names{"transpose", "softmax", "transpose"}));
}

TEST(MoveTransposes, SumsOfFloatsKeepTheirOrder) {
  auto reduced = [](const std::string& type, const std::string& name, const std::string& order,
                    const std::string& shape) {
    return after(fmt::format(R"(  input %0 "x" {0}[2x3x4]{1}
  %1 "a" {0}[{2}]{1} = transpose(%0) {{order = [{3}]}}
  %2 "y" {0}[2]{1} = {4}(%1) {{axes = [1, 2]}}
  output %2
)",
                             type, type == "i8" ? " quant(0.5, 3)" : "", shape, order, name));
  };
  EXPECT_EQ(reduced("i8", "mean", "0, 2, 1", "2x4x3"), (Names{"mean"}));
  EXPECT_EQ(reduced("i8", "sum", "0, 2, 1", "2x4x3"), (Names{"sum"}));
  EXPECT_EQ(reduced("f32", "mean", "0, 2, 1", "2x4x3"), (Names{"transpose", "mean"}));
  EXPECT_EQ(reduced("f32", "reduce_max", "0, 2, 1", "2x4x3"), (Names{"transpose", "reduce_max"}));
  // Their order among themselves is the same here.
  EXPECT_EQ(after(R"(  input %0 "x" f32[3x2x4]
  %1 "a" f32[2x3x4] = transpose(%0) {order = [1, 0, 2]}
  %2 "y" f32[2] = mean(%1) {axes = [1, 2]}
  output %2
)"),
            (Names{"mean"}));
}

TEST(MoveTransposes, ColumnsOfSharedWeightsStay) {
  auto dense = [](const std::string& more) {
    return after(R"(  input %0 "x" i8[1x2x3] quant(0.5, 3)
  input %9 "z" i8[1x6] quant(0.5, 3)
  const %1 "w" i8[1x6] quant(0.5, 0) = [1, 2, 3, 4, 5, 6]
  %2 "a" i8[1x3x2] quant(0.5, 3) = transpose(%0) {order = [0, 2, 1]}
  %3 "row" i8[1x6] quant(0.5, 3) = reshape(%2) {shape = [1, 6]}
  %4 "y" i8[1x1] quant(0.5, 3) = fully_connected(%3, %1)
  output %4
)" + more);
  };
  EXPECT_EQ(dense(""), (Names{"reshape", "fully_connected"}));
  EXPECT_EQ(dense(R"(  %10 "v" i8[1x1] quant(0.5, 3) = fully_connected(%9, %1)
  output %10
)"),
            (Names{"transpose", "reshape", "fully_connected", "fully_connected"}));
  EXPECT_EQ(dense("  output %3\n"), (Names{"transpose", "reshape", "fully_connected"}));
}

TEST(MoveTransposes, TransposesAtTheSmallEnd) {
  // Before or behind what makes a tensor smaller or larger: where it is small.
  graph::Graph graph = run_on("move-transposes", graph_of(R"(  input %0 "x" i8[2x8x9] quant(0.5, 3)
  %1 "a" i8[9x8x2] quant(0.5, 3) = transpose(%0) {order = [2, 1, 0]}
  %2 "b" i8[3x8x2] quant(0.5, 3) = slice(%1) {begin = [2, 0, 0], strides = [1, 1, 1], counts = [3, 8, 2], )"
                                                          R"(shape = [3, 8, 2]}
  %3 "y" i8[3x8x2] quant(0.5, 3) = relu(%2)
  output %3
)"));
  EXPECT_EQ(std::get<0>(transpose_cost(graph)), 48);
}

int64_t cost_of(const std::vector<std::array<int64_t, 3>>& pairs, unsigned values) {
  int64_t cost = 0;
  for (const auto& [zero, one, price] : pairs)
    if ((values >> zero & 1) == 0 && (values >> one & 1) == 1) cost += price;
  return cost;
}

TEST(MinCut, IsTheCheapestOfAllAssignments) {
  std::mt19937 random(5);
  auto below = [&](int64_t n) { return static_cast<int64_t>(random()) % n; };
  for (int trial = 0; trial < 300; ++trial) {
    const int64_t variables = 2 + below(7);  // the first two are kZero and kOne
    MinCut cut;
    for (int64_t v = 2; v < variables; ++v) cut.add_variable();
    std::vector<std::array<int64_t, 3>> pairs;
    for (int64_t p = below(20); p > 0; --p) {
      pairs.push_back({below(variables), below(variables), below(9)});
      cut.add_cost(static_cast<int>(pairs.back()[0]), static_cast<int>(pairs.back()[1]), pairs.back()[2]);
    }
    std::vector<bool> solved = cut.solve();
    unsigned values = 0, least = 2;
    for (int64_t v = 0; v < variables; ++v) values |= (solved[static_cast<size_t>(v)] ? 1u : 0u) << v;
    for (unsigned other = 0; other < 1u << variables; ++other)
      if ((other & 3) == 2 && cost_of(pairs, other) < cost_of(pairs, least)) least = other;
    ASSERT_EQ(values & 3, 2u);
    ASSERT_EQ(cost_of(pairs, values), cost_of(pairs, least)) << trial;
  }
}

}  // namespace
}  // namespace aotc::passes
