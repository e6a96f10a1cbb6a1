// SPDX-License-Identifier: Apache-2.0
#include "test_operators.h"

namespace aotc::passes {
namespace {

TEST(ConstantFolding, FoldsChainsAndKeepsWhatDependsOnInputs) {
  graph::Graph graph = run_on("constant-folding,compact-tensors", R"(graph "g" {
  input %0 "x" f32[2]
  const %1 "q" i8[2] quant(0.5, 3) = [-128, 127]
  %2 "f" f32[2] = test_convert(%1)
  %3 "v" f32[1x2] = test_view(%2) {shape = [1, 2]}
  %4 "n" f32[1x2] = test_negate(%3)
  %5 "nx" f32[2] = test_negate(%0)
  %6 "a" f32[1x2], %7 "b" f32[1x2] = test_two(%4)
  %8 "back" f32[1x2] = test_negate(%7)
  output %5
  output %8
}
)");
  // %8 is an output: a port needs its own storage, so its operator stays; its operand is folded.
  EXPECT_EQ(op_names(graph), (Names{"test_negate", "test_negate"}));
  ASSERT_TRUE(graph.is_constant(graph.ops[1].operands[0]));
  EXPECT_EQ(graph[graph.ops[1].operands[0]].constant->to_vector<float>(), (std::vector<float>{-65.5f, 62.0f}));
}

TEST(ConstantFolding, LeavesResultsThatWouldBloatFlash) {
  std::string text = R"(graph "g" {
  const %0 "c" f32[1x1x1x1] = [1]
  %1 "p" f32[1xNx1x1] = test_pad(%0) {after = [0, M, 0, 0]}
  %2 "n" f32[1xNx1x1] = test_negate(%1)
  output %2
}
)";
  auto with_size = [&](const std::string& n, const std::string& m) {
    std::string sized = text;
    for (size_t at; (at = sized.find('N')) != std::string::npos;) sized.replace(at, 1, n);
    sized.replace(sized.find('M'), 1, m);
    return op_names(run_on("constant-folding", sized));
  };
  EXPECT_EQ(with_size("1025", "1024"), (Names{"test_negate"}));
  EXPECT_EQ(with_size("1026", "1025"), (Names{"test_pad", "test_negate"}));
}

TEST(RemoveIdentities, RemovesOperatorsThatChangeNothing) {
  graph::Graph graph = run_on("remove-identities", R"(graph "g" {
  input %0 "x" i8[1x2x2x1] quant(0.5, -128)
  %1 "n" i8[1x2x2x1] quant(0.5, 0) = test_negate(%0)
  %2 "p" i8[1x2x2x1] quant(0.5, 0) = test_pad(%1)
  %3 "v" i8[1x2x2x1] quant(0.5, 0) = test_view(%2) {shape = [1, 2, 2, 1]}
  %4 "c" i8[1x2x2x1] quant(0.5, 0) = test_clamp(%3) {least = -100}
  %5 "k" i8[1x2x2x1] quant(0.5, 0) = test_clamp(%4)
  output %5
}
)");
  EXPECT_EQ(op_names(graph), (Names{"test_negate", "test_clamp"}));
  EXPECT_EQ(graph.ops[1].operands[0], graph::TensorId{1});
}

TEST(RemoveIdentities, KeepsWhatAnOutputPortNeeds) {
  // The operand is an input; then, an output already.
  EXPECT_EQ(op_names(run_on("remove-identities", R"(graph "g" {
  input %0 "x" f32[2]
  %1 "v" f32[2] = test_view(%0) {shape = [2]}
  output %1
}
)")),
            (Names{"test_view"}));
  EXPECT_EQ(op_names(run_on("remove-identities", R"(graph "g" {
  input %0 "x" f32[2]
  %1 "n" f32[2] = test_negate(%0)
  %2 "v" f32[2] = test_view(%1) {shape = [2]}
  output %1
  output %2
}
)")),
            (Names{"test_negate", "test_view"}));
}

TEST(RemoveIdentities, KeepsChangesOfTypeAlone) {
  EXPECT_EQ(op_names(run_on("remove-identities", R"(graph "g" {
  input %0 "x" i8[2] quant(0.5, 0)
  %1 "v" i8[2] quant(0.25, 0) = test_view(%0) {shape = [2]}
  %2 "n" i8[2] quant(0.25, 0) = test_negate(%1)
  output %2
}
)")),
            (Names{"test_view", "test_negate"}));
}

TEST(RemoveIdentities, LooksThroughViews) {
  graph::Graph graph = run_on("remove-identities", R"(graph "g" {
  input %0 "x" f32[2x3]
  %1 "a" f32[6] = test_view(%0) {shape = [6]}
  %2 "b" f32[1x6] = test_view(%1) {shape = [1, 6]}
  %3 "c" f32[6] = test_drop_first(%2)
  %4 "d" f32[2x3] = test_view(%3) {shape = [2, 3]}
  %5 "n" f32[2x3] = test_negate(%4)
  %6 "m" f32[6] = test_negate(%3)
  output %5
  output %6
}
)");
  // %4 ends where it began; %3's shape depends on %2's, so it keeps reading that.
  EXPECT_EQ(op_names(graph), (Names{"test_view", "test_drop_first", "test_negate", "test_negate"}));
  EXPECT_EQ(graph.ops[0].operands[0], graph::TensorId{0});
  EXPECT_EQ(graph.ops[2].operands[0], graph::TensorId{0});
}

constexpr char kThereAndBack[] = R"(graph "g" {
  input %0 "x" i8[4] quant(0.5, 3)
  %1 "n" i8[4] quant(0.5, 3) = test_negate(%0)
  %2 "f" f32[4] = test_convert(%1)
  %3 "q" i8[4] quant(0.5, 3) = test_convert(%2)
  %4 "o" i8[4] quant(0.5, 3) = test_negate(%3)
  output %4
}
)";

TEST(RemoveConversions, RemovesExactPairs) {
  graph::Graph graph = run_on("remove-conversions", kThereAndBack);
  EXPECT_EQ(op_names(graph), (Names{"test_negate", "test_negate"}));
}

TEST(RemoveConversions, KeepsPairsThatLoseValues) {
  // Negation saturates -128; the pair is elementwise over all of int8 and still no identity.
  EXPECT_EQ(op_names(run_on("remove-conversions", R"(graph "g" {
  input %0 "x" i8[4] quant(0.5, 0)
  %1 "n" i8[4] quant(0.5, 0) = test_negate(%0)
  %2 "o" i8[4] quant(0.5, 0) = test_negate(%1)
  %3 "c" i8[4] quant(0.5, 0) = test_clamp(%2)
  output %3
}
)")),
            (Names{"test_negate", "test_negate", "test_clamp"}));
  // Other parameters at the end.
  std::string other = kThereAndBack;
  other.replace(other.find("\"q\" i8[4] quant(0.5"), 19, "\"q\" i8[4] quant(0.6");
  EXPECT_EQ(run_on("remove-conversions", other).ops.size(), 4u);
}

TEST(RemoveConversions, RemovesRoundingOnRequestOnly) {
  std::string text = R"(graph "g" {
  input %0 "x" f32[4]
  %1 "n" f32[4] = test_negate(%0)
  %2 "q" i8[4] quant(1, 0) = test_convert(%1)
  %3 "f" f32[4] = test_convert(%2)
  %4 "o" f32[4] = test_negate(%3)
  output %4
}
)";
  EXPECT_EQ(run_on("remove-conversions", text).ops.size(), 4u);
  PassOptions options;
  options.remove_rounding = true;
  EXPECT_EQ(op_names(run_on("remove-conversions", text, options, false)), (Names{"test_negate", "test_negate"}));
}

TEST(DeadCode, RemovesWhatNoOutputNeeds) {
  graph::Graph graph = run_on("dead-code,compact-tensors", R"(graph "g" {
  input %0 "x" f32[2]
  input %1 "unused" f32[2]
  %2 "a" f32[2] = test_negate(%0)
  %3 "b" f32[2] = test_negate(%2)
  %4 "c" f32[2] = test_negate(%3)
  %5 "d" f32[2], %6 "e" f32[2] = test_two(%2)
  output %6
}
)");
  EXPECT_EQ(op_names(graph), (Names{"test_negate", "test_two"}));
  EXPECT_EQ(graph.tensors.size(), 5u);
  EXPECT_EQ(graph.inputs.size(), 2u);
}

// %1 is read, so its next value is needed, and with it %4 and what that will be; %7 is not.
TEST(DeadCode, KeepsWhatStatesNeed) {
  graph::Graph graph = run_on("dead-code", R"(graph "g" {
  input %0 "x" f32[2]
  state %1 "read" f32[2] = [0, 0]
  state %4 "behind" f32[2] = [1, 1]
  state %7 "unread" f32[2] = [2, 2]
  %2 "out" f32[2] = test_negate(%1)
  %3 "next of read" f32[2] = test_negate(%4)
  %5 "next of behind" f32[2] = test_negate(%0)
  %6 "next of unread" f32[2] = test_negate(%7)
  output %2
  next %1 = %3
  next %4 = %5
  next %7 = %6
}
)");
  EXPECT_EQ(graph.ops.size(), 3u);
  EXPECT_EQ(graph.states.size(), 2u);
}

constexpr char kBoundary[] = R"(graph "g" {
  input %0 "x" f32[4] as "audio"
  %1 "q" i8[4] quant(0.25, 0) = test_convert(%0)
  %2 "q2" i8[4] quant(0.25, 0) = test_convert(%0)
  %3 "n" i8[4] quant(0.25, 1) = test_negate(%1)
  %4 "m" i8[4] quant(0.25, 1) = test_negate(%2)
  %5 "f" f32[4] = test_convert(%3)
  %6 "g" f32[4] = test_convert(%4)
  output %5 as "yes"
  output %6
}
)";

TEST(StripBoundaryFloat, ActsOnRequestOnly) { EXPECT_EQ(run_on("strip-boundary-float", kBoundary).ops.size(), 6u); }

TEST(StripBoundaryFloat, MakesPortsQuantized) {
  PassOptions options;
  options.strip_boundary_float = true;
  graph::Graph before = parse_graph(kBoundary);
  graph::Graph graph = run_on("strip-boundary-float,compact-tensors", kBoundary, options, false);
  EXPECT_EQ(op_names(graph), (Names{"test_negate", "test_negate"}));
  EXPECT_EQ(graph.inputs[0].name, "audio");
  EXPECT_EQ(graph.outputs[0].name, "yes");
  EXPECT_EQ(graph[graph.inputs[0].tensor].type.dtype, DType::kI8);
  EXPECT_EQ(graph[graph.outputs[1].tensor].type.dtype, DType::kI8);
  // Random inputs are the same real values in both (scale 0.25, zero point 0).
  auto quantized = output_bytes(graph, 1);
  auto real = output_bytes(before, 1);
  for (size_t i = 0; i < 4; ++i) {
    float value;
    std::memcpy(&value, real[0].data() + 4 * i, 4);
    EXPECT_EQ(static_cast<float>(static_cast<int8_t>(quantized[0][i]) - 1) * 0.25f, value);
  }
}

TEST(StripBoundaryFloat, KeepsInputsThatAreAlsoReadAsFloat) {
  PassOptions options;
  options.strip_boundary_float = true;
  graph::Graph graph = run_on("strip-boundary-float", R"(graph "g" {
  input %0 "x" f32[4]
  %1 "q" i8[4] quant(0.25, 0) = test_convert(%0)
  %2 "n" i8[4] quant(0.25, 1) = test_negate(%1)
  %3 "m" f32[4] = test_negate(%0)
  output %2
  output %3
}
)",
                              options);
  EXPECT_EQ(graph[graph.inputs[0].tensor].type.dtype, DType::kF32);
}

TEST(CompactTensors, RenumbersInOrder) {
  graph::Graph graph = run_on("compact-tensors", R"(graph "g" {
  const %0 "gone" f32[1] = [1]
  input %1 "x" f32[2]
  %2 "a" f32[2] = test_negate(%1)
  output %2
}
)");
  EXPECT_EQ(graph.inputs[0].tensor, graph::TensorId{0});
}

}  // namespace
}  // namespace aotc::passes
