// SPDX-License-Identifier: Apache-2.0
// Branches and loops in corners of the planner that random graphs found.
#include <gtest/gtest.h>

#include "ops/operator.h"
#include "plan/program.h"
#include "target/cpu.h"

namespace aotc {
namespace {

graph::Graph parsed(const std::string& text) {
  Diagnostics diags;
  auto graph = graph::parse(text, "text", ops::definition_lookup(), diags);
  EXPECT_TRUE(graph && ops::verify_graph(*graph, diags)) << diags.str();
  return graph ? *graph : graph::Graph{};
}

TEST(PlanControl, RegionsWithoutOperatorsAreRegions) {
  graph::Graph g = parsed(R"(graph "g" source "g" {
  input %0 "c" bool[1]
  input %1 "a" f32[2]
  input %2 "b" f32[2]
  %3 "r" f32[2] = if(%0, %1, %2) region "then" {
    input %0 "x" f32[2]
    input %1 "y" f32[2]
    output %0
  } region "else" {
    input %0 "x" f32[2]
    input %1 "y" f32[2]
    output %1
  }
  output %3
}
)");
  Diagnostics diags;
  auto program = plan::plan_program(g, {}, diags);
  ASSERT_TRUE(program) << diags.str();
  ASSERT_NE(program->source, nullptr);
  EXPECT_EQ(program->reference().ops.size(), 1u);
}

// A loop that doubles until the sum is large, with `before` computing its first value %1 and `behind` reading
// what is there.
std::string doubling(const std::string& before, const std::string& behind) {
  return "graph \"g\" {\n  input %0 \"x\" f32[2]\n" + before +
         R"(  %2 "r" f32[2] = while(%1) region "goes" {
    input %0 "a" f32[2]
    const %1 "end" f32[] = [1000]
    %2 "s" f32[] = sum(%0) {axes = [0]}
    %3 "go" bool[] = less(%2, %1)
    output %3
  } region "body" {
    input %0 "a" f32[2]
    %1 "b" f32[2] = add(%0, %0)
    output %1
  }
)" + behind +
         "}\n";
}

size_t copies(const std::string& text) {
  Diagnostics diags;
  plan::PlanOptions options;
  options.inputs = plan::Contract::kPreserve;
  auto program = plan::plan_program(parsed(text), options, diags);
  EXPECT_TRUE(program) << diags.str();
  size_t count = 0;
  for (const plan::ProgramCall& call : program->calls) count += call.op_index < 0;
  return count;
}

// The loop works on the tensor that was computed for it, where nobody else needs that. One copy is in the body,
// whose sum of a tensor with itself cannot be written over it.
TEST(PlanControl, ALoopBeginsInThePlaceOfItsFirstValue) {
  const std::string tanh = "  %1 \"t\" f32[2] = tanh(%0)\n";
  const std::string uses_result = "  %3 \"y\" f32[2] = neg(%2)\n  output %3\n";
  EXPECT_EQ(copies(doubling(tanh, uses_result)), 1u);
  // An operator behind the loop reads what it began with, or it is an output.
  EXPECT_EQ(copies(doubling(tanh, "  %3 \"y\" f32[2] = add(%2, %1)\n  output %3\n")), 2u);
  EXPECT_EQ(copies(doubling(tanh, uses_result + "  output %1\n")), 2u);
}

TEST(PlanControl, ATableThatIsTestedIsInThePoolOfTables) {
  graph::Graph g = parsed(R"(graph "g" source "g" {
  input %0 "a" f32[2]
  const %1 "yes" bool[1] = [true]
  %2 "r" f32[2] = if(%1, %0) region "then" {
    input %0 "x" f32[2]
    %1 "t" f32[2] = relu(%0)
    output %1
  } region "else" {
    input %0 "x" f32[2]
    output %0
  }
  output %2
}
)");
  Diagnostics diags;
  plan::PlanOptions options;
  options.pools = {{"ram", INT32_MAX}, {"tables", INT32_MAX, false, true}};
  auto program = plan::plan_program(g, options, diags);
  ASSERT_TRUE(program) << diags.str();
  ASSERT_EQ(program->body.size(), 1u);
  EXPECT_EQ(program->body[0].condition.kind, plan::StorageKind::kConstant);
  EXPECT_EQ(program->body[0].condition.pool, 1);
}

// One column of windows lies inside of the image and its neighbour beside it: they are no pair.
TEST(PlanControl, ConvolutionBesideTheImageOnMve) {
  std::string weights;
  for (int i = 0; i < 9 * 2 * 8; ++i) weights += (i > 0 ? ", " : "") + std::to_string(i * 37 % 101 - 50);
  graph::Graph g = parsed(R"(graph "g" source "g" {
  input %0 "in" i8[1x7x1x8] quant(0.2, 26)
  const %1 "w" i8[9x2x1x8] quant(0.01, 0) = [)" + weights + R"(]
  %2 "out" i8[1x8x2x9] quant(0.05, 97) = conv_2d(%0, %1) {pad_top = 1, pad_bottom = 1, pad_right = 1}
  output %2
}
)");
  auto has = [](std::string_view feature) {
    return feature == "unaligned" || feature == "dsp" || feature == "mve";
  };
  plan::PlanOptions options;
  options.target = target::target_info({"armv8.1-m.main", "armv8.1-m.main", has, true});
  Diagnostics diags;
  auto program = plan::plan_program(g, options, diags);
  ASSERT_TRUE(program) << diags.str();
  std::vector<std::vector<uint8_t>> inputs(1, std::vector<uint8_t>(56));
  for (size_t i = 0; i < 56; ++i) inputs[0][i] = static_cast<uint8_t>(i * 29);
  auto out = plan::run_program(*program, inputs, diags);
  ASSERT_TRUE(out) << diags.str();
  EXPECT_EQ((*out)[0], ops::evaluate_graph(g, inputs)[2]);
}

}  // namespace
}  // namespace aotc
