// SPDX-License-Identifier: Apache-2.0
// Operators that share a text are counted by keys, each of which is made once for a graph. 0.1 CPU seconds.
#include <gtest/gtest.h>

#include "cores/arm/dsp/conv_2d_lowering.h"
#include "graph/graph.h"
#include "ops/common/alike.h"
#include "ops/operator.h"

namespace aotc {
namespace {

using ops::AlikeOps;

graph::Graph graph_of(const std::string& text) {
  Diagnostics diags;
  auto graph = graph::parse("graph \"g\" {\n" + text + "}\n", "t.air", ops::definition_lookup(), diags);
  EXPECT_TRUE(graph && ops::verify_graph(*graph, diags)) << diags.str();
  return graph ? std::move(*graph) : graph::Graph{};
}

// Two sums, then a product, in turn.
graph::Graph chain(int count) {
  const std::string type = " i8[16] quant(0.05, 0)";
  std::string text = "  input %0 \"x\"" + type + "\n";
  for (int i = 1; i <= count; ++i)
    text += "  %" + std::to_string(i) + " \"t\"" + type + " = " + (i % 3 == 0 ? "mul" : "add") + "(%0, %0)\n";
  return graph_of(text + "  output %" + std::to_string(count) + "\n");
}

int64_t made = 0;  // keys
std::optional<AlikeOps::Key> size_of_sum(const ops::OpView& op, const ops::TargetInfo&) {
  ++made;
  if (op.op.name() != "add") return std::nullopt;
  return AlikeOps::Key{op.result().elements()};
}

TEST(AlikeOps, MakesEachKeyOnce) {
  constexpr int64_t kCount = 600;
  const graph::Graph graph = chain(kCount);
  const AlikeOps alike(graph);
  made = 0;
  for (const graph::Op& op : graph.ops)
    EXPECT_EQ(AlikeOps::count({graph, op}, {}, size_of_sum), op.name() == "add" ? kCount / 3 * 2 : 1);
  EXPECT_EQ(made, kCount);
}

TEST(AlikeOps, CountsOperatorsOfTheGraphThatIsAskedFor) {
  const graph::Graph graph = chain(9), other = chain(3);
  EXPECT_EQ(AlikeOps::count({graph, graph.ops[0]}, {}, size_of_sum), 6);
  const AlikeOps alike(graph);
  EXPECT_EQ(AlikeOps::count({other, other.ops[0]}, {}, size_of_sum), 2);
  EXPECT_EQ(AlikeOps::count({graph, graph.ops[0]}, {}, size_of_sum), 6);
}

// Convolution number `at`; `result` is the scale and the zero point of its result.
std::string conv(int at, const std::string& result) {
  const std::string n = std::to_string(3 * at);
  return "  const %" + n + "1 \"w\" i8[2x1x1x2] quant(0.25, 0) = [1, 2, 3, 4]\n  const %" + n +
         "2 \"b\" i32[2] = [5, 6]\n  %" + n + "3 \"y\" i8[1x4x4x2] quant(" + result + ") = conv_2d(%0, %" + n + "1, %" +
         n + "2)\n  output %" + n + "3\n";
}

TEST(AlikeOps, ConvolutionsOfOneTextHaveOneShift) {
  const std::string x = "  input %0 \"x\" i8[1x4x4x2] quant(0.5, 0)\n";
  const graph::Graph graph = graph_of(x + conv(1, "1, 0") + conv(2, "1, 5") + conv(3, "64, 0") + conv(4, "64, 0"));
  ASSERT_EQ(graph.ops.size(), 4U);
  auto text = [&](size_t i) { return cores::arm::pairs_text({graph, graph.ops[i]}, {}); };
  ASSERT_TRUE(text(0) && text(2));
  EXPECT_EQ(text(0), text(1)) << "the zero point is in the table";
  EXPECT_NE(text(0), text(2)) << "the shift is in the text";
  EXPECT_EQ(text(2), text(3));
  const AlikeOps alike(graph);
  for (const graph::Op& op : graph.ops) {
    EXPECT_EQ(AlikeOps::count({graph, op}, {}, cores::arm::conv_shapes), 4);
    EXPECT_EQ(AlikeOps::count({graph, op}, {}, cores::arm::conv_shapes, cores::arm::pairs_text), 2);
  }
}

}  // namespace
}  // namespace aotc
