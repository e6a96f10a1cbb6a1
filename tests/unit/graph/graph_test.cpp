// SPDX-License-Identifier: Apache-2.0
#include "graph/graph.h"

#include "test_graph.h"

namespace aotc::graph {
namespace {

constexpr char kDiamond[] = R"(graph "diamond" {
  input %0 "in" f32[2]
  const %1 "unused" i8[3] = [1, 2, 3]
  const %2 "w" f32[2] = [0.1, -0]
  %3 "a" f32[2] = plain(%0, %2)
  %4 "b" f32[2] = plain(%3, _, %3)
  %5 "c" f32[2] = plain(%3, %4)
  output %5
}
)";

std::string verify_errors(const Graph& graph) {
  Diagnostics diags;
  Status status = verify_structure(graph, diags);
  EXPECT_EQ(status.ok(), !diags.has_errors());
  for (const Diagnostic& d : diags.all()) EXPECT_EQ(d.slug, "ir-invalid");
  return diags.str();
}

TEST(Graph, ElementCount) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({2, 0, 3}), 0);
  EXPECT_EQ(element_count({1, 49, 10, 1}), 490);
  EXPECT_EQ(to_string(Shape{1, 49, 10, 1}), "1x49x10x1");
  EXPECT_EQ(to_string(Shape{}), "scalar");
}

TEST(Graph, UseDefListsEachUserOnce) {
  Graph graph = parse_ok(kDiamond);
  UseDef chains = compute_use_def(graph);
  EXPECT_EQ(chains.definer, (std::vector<int>{-1, -1, -1, 0, 1, 2}));
  EXPECT_EQ(chains.users[3], (std::vector<int>{1, 2}));
  EXPECT_TRUE(chains.users[1].empty());
}

TEST(Graph, CompactDropsUnreferencedTensorsInOrder) {
  Graph graph = parse_ok(kDiamond);
  compact(graph);
  ASSERT_EQ(graph.tensors.size(), 5u);
  EXPECT_EQ(graph.tensors[1].name, "w");
  EXPECT_EQ(graph.ops[1].operands, (std::vector<TensorId>{{2}, {-1}, {2}}));
  EXPECT_EQ(graph.outputs[0].tensor, TensorId{4});
  EXPECT_EQ(verify_errors(graph), "");
}

TEST(Graph, ConstantsReadAtAnyAlignment) {
  ConstantView odd = own_bytes({0, 1, 0, 0, 0, 2, 0, 0, 0});
  odd.bytes = odd.bytes.subspan(1);
  EXPECT_EQ(odd.to_vector<int32_t>(), (std::vector<int32_t>{1, 2}));
}

TEST(VerifyStructure, AcceptsAWellFormedGraph) { EXPECT_EQ(verify_errors(parse_ok(kDiamond)), ""); }

TEST(VerifyStructure, ReportsUseBeforeDefinition) {
  Graph graph = parse_ok(kDiamond);
  std::swap(graph.ops[0], graph.ops[1]);
  EXPECT_EQ(verify_errors(graph),
            "t.air:6:19: plain 'b': error: operand 0 (tensor %3 'a') is used before it is defined "
            "[ir-invalid]\n"
            "t.air:6:19: plain 'b': error: operand 2 (tensor %3 'a') is used before it is defined "
            "[ir-invalid]\n");
}

TEST(VerifyStructure, ReportsIdsOutOfRange) {
  Graph graph = parse_ok(kDiamond);
  graph.ops[0].operands[1] = {6};
  graph.ops[2].results[0] = {-1};
  graph.inputs[0].tensor = {77};
  graph.outputs[0].tensor = {-5};
  std::string errors = verify_errors(graph);
  EXPECT_NE(errors.find("operand 1 names a tensor that does not exist (id 6)"), std::string::npos) << errors;
  EXPECT_NE(errors.find("result 0 names a tensor that does not exist (id -1)"), std::string::npos) << errors;
  EXPECT_NE(errors.find("input 0 names a tensor that does not exist (id 77)"), std::string::npos) << errors;
  EXPECT_NE(errors.find("output 0 names a tensor that does not exist (id -5)"), std::string::npos) << errors;
}

TEST(VerifyStructure, ReportsSecondDefinitions) {
  EXPECT_NE(verify_errors(parse_ok(R"(graph "g" {
  input %0 "in" f32[2]
  const %1 "c" f32[1] = [0]
  input %1
  input %0
  %0 = plain(%0)
})")),
            "");
  Graph graph = parse_ok(kDiamond);
  graph.ops[1].results = graph.ops[0].results;
  EXPECT_NE(verify_errors(graph).find("result 0 (tensor %3 'a') is defined a second time"), std::string::npos);
}

TEST(VerifyStructure, ReportsOutputsWithoutDefinition) {
  EXPECT_EQ(verify_errors(parse_ok("graph \"g\" { tensor %0 \"x\" f32[2] output %0 }")),
            "t.air: tensor 'x': error: no operator defines output 0 [ir-invalid]\n");
}

TEST(VerifyStructure, ReportsMissingDefinition) {
  Graph graph;
  graph.ops.emplace_back();
  EXPECT_EQ(verify_errors(graph), "<input>: error: the operator has no definition or no attributes [ir-invalid]\n");
}

struct BadTensor {
  const char* text;
  const char* message;
};

TEST(VerifyStructure, ReportsBadTensors) {
  const BadTensor cases[] = {
      {R"(const %0 "c" f32[2] = [0])", "a constant of type f32 2 needs 8 bytes but has 4"},
      {R"(tensor %0 "c" f32[-1])", "shape -1 has a negative dimension or too many elements"},
      {R"(tensor %0 "c" i8[4294967296x4294967296])", "too many elements"},
      {R"(tensor %0 "c" i8[4294967296x4294967296x0])", "too many elements"},
      {R"(tensor %0 "c" i8[4294967296x0])", ""},
      {R"(tensor %0 "c" i8[9223372036854775807x0])", "too many elements"},
      {R"(tensor %0 "c" f32[1] quant(1, 0))", "a tensor of type f32 cannot be quantised"},
      {R"(tensor %0 "c" i8[1] quant(0, 0))", ""},
      {R"(tensor %0 "c" i8[1] quant(-1, 0))", "quantisation scale 0 is -1, but must be at least 0 and finite"},
      {R"(tensor %0 "c" i8[1] quant(nan, 0))", "quantisation scale 0 is nan"},
      {R"(tensor %0 "c" i8[1] quant(1, 128))", "zero point 0 is 128, outside the range of i8"},
      {R"(tensor %0 "c" i8[2] quant(axis 0, [1, 1], [0]))", "2 scales but 1 zero points"},
      {R"(tensor %0 "c" i8[2] quant(axis 1, [1, 1]))", "quantisation axis 1 is outside a tensor of rank 1"},
      {R"(tensor %0 "c" i8[2] quant(axis -1, [1, 1]))", "quantisation axis -1 is outside a tensor of rank 1"},
      {R"(tensor %0 "c" i8[3] quant(axis 0, [1, 1]))", "2 scales for 3 slices along axis 0"},
      {R"(tensor %0 "c" i8[2] quant(axis 0, [1, 1]))", ""},
      {R"(state %0 "s" i8[2] = [1] next %0 = %0)", "has 1 bytes, but its type needs 2"},
      {R"(state %0 "s" i8[1] = [1])", "the next value of state 0 names a tensor that does not exist"},
      {R"(state %0 "s" i8[1] = [1] const %1 "c" i8[2] = [1, 2] next %0 = %1)",
       "state 0 is i8[1], but its next value is i8[2]"},
      {R"(state %0 "s" i8[1] = [1] const %1 "c" i8[1] = [2] next %0 = %1)", ""},
  };
  for (const BadTensor& bad : cases) {
    std::string errors = verify_errors(parse_ok("graph \"g\" { " + std::string(bad.text) + " }"));
    if (bad.message[0] == 0) {
      EXPECT_EQ(errors, "") << bad.text;
    } else {
      EXPECT_NE(errors.find(bad.message), std::string::npos) << bad.text << "\n" << errors;
    }
  }
}

}  // namespace
}  // namespace aotc::graph
