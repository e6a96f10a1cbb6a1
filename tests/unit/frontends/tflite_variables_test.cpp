// SPDX-License-Identifier: Apache-2.0
// Files with variables and control flow that are wrong, or that only a hand would write.
#include <gtest/gtest.h>

#include "frontends/tflite/reader.h"
#include "tflite_builder.h"

namespace aotc {
namespace tflite_variables_test {
namespace {

using testing::FlatBufferBuilder;
using testing::TestModel;
using testing::TestOp;
using testing::TestTensor;
namespace schema = tflite_schema;

// Entries of the models' codes.
enum : uint32_t { kAdd, kIf, kWhile, kCallOnce, kVarHandle, kRead, kAssign };

const TestTensor kHandle{.name = "handle", .shape = {}, .type = schema::TensorType_RESOURCE};
const TestTensor kBool{.name = "b", .shape = {1}, .type = schema::TensorType_BOOL};

TestTensor value(const char* name, std::vector<int32_t> shape = {1, 4}) {
  return {.name = name, .shape = std::move(shape)};
}

TestOp handle_op(int32_t result) {
  return {
      .code = kVarHandle,
      .out = {result},
      .options_type = schema::BuiltinOptions_VarHandleOptions,
      .options = [](FlatBufferBuilder& fbb) { return schema::CreateVarHandleOptionsDirect(fbb, "", "state").Union(); }};
}

TestOp call_once(int32_t subgraph) {
  return {
      .code = kCallOnce,
      .options_type = schema::BuiltinOptions_CallOnceOptions,
      .options = [subgraph](FlatBufferBuilder& fbb) { return schema::CreateCallOnceOptions(fbb, subgraph).Union(); }};
}

TestOp if_op(std::vector<int32_t> in, std::vector<int32_t> out, int32_t then_index, int32_t else_index) {
  return {
      .code = kIf,
      .in = std::move(in),
      .out = std::move(out),
      .options_type = schema::BuiltinOptions_IfOptions,
      .options = [=](FlatBufferBuilder& fbb) { return schema::CreateIfOptions(fbb, then_index, else_index).Union(); }};
}

// Gives the variable zeros of a shape.
TestModel first_value(std::vector<int32_t> shape, size_t elements) {
  TestModel m;
  TestTensor zeros = value("zeros", std::move(shape));
  zeros.data.assign(elements * 4, 0);
  m.tensors = {kHandle, zeros};
  m.ops = {handle_op(0), {.code = kAssign, .in = {0, 1}}};
  return m;
}

// out = in + variable; variable = out.
TestModel accumulator() {
  TestModel m;
  m.tensors = {value("in"), kHandle, value("before"), value("out")};
  m.codes = {{0}, {118}, {119}, {129}, {142}, {143}, {144}};
  m.ops = {call_once(1),
           handle_op(1),
           {.code = kRead, .in = {1}, .out = {2}},
           {.code = kAdd, .in = {0, 2}, .out = {3}},
           {.code = kAssign, .in = {1, 3}}};
  m.inputs = {0};
  m.outputs = {3};
  m.subgraphs = {first_value({1, 4}, 4)};
  return m;
}

// Empty if the model is read.
std::string said(const TestModel& m, size_t states = 1) {
  Diagnostics diags;
  auto graph = frontends::read_tflite(m.bytes(), "m.tflite", diags);
  EXPECT_EQ(graph.ok(), !diags.has_errors());
  if (graph.ok()) {
    EXPECT_EQ(graph->states.size(), states);
  }
  return diags.str();
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(TfliteVariables, Accumulator) { EXPECT_EQ(said(accumulator()), ""); }

// The second would change the type of what was read before.
TEST(TfliteVariables, FirstValueAfterItIsRead) {
  TestModel m = accumulator();
  m.subgraphs.push_back(first_value({2, 3}, 6));
  m.ops.push_back(call_once(2));
  EXPECT_TRUE(has(said(m), "operator initialises variable 'state' after it is read or assigned")) << said(m);
}

TEST(TfliteVariables, ReadOfNoneOrTwo) {
  TestModel m = accumulator();
  m.ops[2].out = {2, 3};
  EXPECT_TRUE(has(said(m), "the operator has 2 results, expected 1 [tflite-invalid]")) << said(m);
  m.ops[2].out = {};
  EXPECT_TRUE(has(said(m), "the operator has 0 results, expected 1 [tflite-invalid]")) << said(m);
}

TEST(TfliteVariables, ReadTwiceIntoOne) {
  TestModel m = accumulator();
  m.ops.insert(m.ops.begin() + 3, m.ops[2]);
  EXPECT_TRUE(
      has(said(m), "result 0 'before' is an input, or an earlier operator already computes it [tflite-invalid]"))
      << said(m);
}

// A branch that assigns through the handle that a loop gives back.
TEST(TfliteVariables, HandleOutOfALoop) {
  TestModel m = accumulator();
  m.tensors.push_back(kBool);
  m.tensors.push_back(value("chosen"));
  m.ops.pop_back();
  m.ops.push_back(if_op({4, 1, 4, 3}, {5}, 2, 3));
  m.inputs = {0, 4};
  m.outputs = {5};
  TestModel branch;
  branch.tensors = {kHandle, kBool, value("x"), kHandle, kBool, value("y")};
  branch.inputs = {0, 1, 2};
  TestModel plain = branch, condition = branch, body = branch;
  branch.ops = {{.code = kWhile,
                 .in = {0, 1, 2},
                 .out = {3, 4, 5},
                 .options_type = schema::BuiltinOptions_WhileOptions,
                 .options = [](FlatBufferBuilder& fbb) { return schema::CreateWhileOptions(fbb, 4, 5).Union(); }},
                {.code = kAssign, .in = {3, 5}}};
  branch.outputs = {5};
  plain.ops = {{.code = kAdd, .in = {2, 2}, .out = {5}}};
  plain.outputs = {5};
  condition.outputs = {1};
  body.outputs = {0, 1, 2};
  for (const TestModel& subgraph : {branch, plain, condition, body}) m.subgraphs.push_back(subgraph);
  EXPECT_EQ(said(m), "");
}

// What is wrong is within an operator that has no results.
TEST(TfliteVariables, TypesWithinAnIfWithoutResults) {
  TestModel m = accumulator();
  m.tensors.push_back(kBool);
  m.ops.push_back(if_op({4, 0}, {}, 2, 2));
  m.inputs = {0, 4};
  TestModel branch;
  TestTensor sum = value("sum");
  sum.type = schema::TensorType_INT16;
  branch.tensors = {value("x"), sum};
  branch.inputs = {0};
  branch.ops = {{.code = kAdd, .in = {0, 0}, .out = {1}}};
  m.subgraphs.push_back(branch);
  EXPECT_TRUE(has(said(m), "[op-type]")) << said(m);
}

TEST(TfliteVariables, BranchWhoseResultIsComputedByNothing) {
  TestModel m = accumulator();
  m.tensors.push_back(kBool);
  m.tensors.push_back(value("chosen"));
  m.ops.push_back(if_op({4, 0}, {5}, 2, 2));
  m.inputs = {0, 4};
  m.outputs = {5};
  TestModel branch;
  branch.tensors = {value("x"), value("nothing")};
  branch.inputs = {0};
  branch.outputs = {1};
  m.subgraphs.push_back(branch);
  EXPECT_TRUE(has(said(m), "'nothing': error: output 0 is not computed by any operator [output-not-computed]"))
      << said(m);
}

TEST(TfliteVariables, BranchOfTooManyTensors) {
  TestModel m = accumulator();
  m.tensors.push_back(kBool);
  m.ops.push_back(if_op({4, 0}, {}, 2, 2));
  m.inputs = {0, 4};
  TestModel branch;
  branch.tensors.assign(50'001, value("x"));
  branch.inputs = {0};
  m.subgraphs.push_back(branch);
  EXPECT_TRUE(has(said(m), "the subgraph has 50001 tensors and 0 operators")) << said(m);
}

// A recurrent layer of one cell; its states are the variable tensors 3 and 4.
TestModel recurrent() {
  TestModel m;
  TestTensor weights = value("w", {1, 1}), bias = value("b", {1});
  weights.data = {0, 0, 0, 63};
  bias.data.assign(4, 0);
  TestTensor output_state = value("h", {1, 1}), cell_state = value("c", {1, 1});
  output_state.variable = cell_state.variable = true;
  m.tensors = {value("in", {1, 2, 1}), weights, bias, output_state, cell_state, value("out", {1, 2, 1})};
  m.codes = {{44}};
  m.ops = {{.code = 0,
            .in = {0, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, 2, 2, 2, 2, -1, -1, 3, 4},
            .out = {5},
            .options_type = schema::BuiltinOptions_UnidirectionalSequenceLSTMOptions,
            .options = [](FlatBufferBuilder& fbb) {
              return schema::CreateUnidirectionalSequenceLSTMOptions(fbb, schema::ActivationFunctionType_TANH).Union();
            }}};
  m.inputs = {0};
  m.outputs = {5};
  return m;
}

TEST(TfliteVariables, TensorsOfALayer) { EXPECT_EQ(said(recurrent(), 2), ""); }

TEST(TfliteVariables, TensorsOfTwoLayers) {
  TestModel m = recurrent();
  m.tensors.push_back(value("out2", {1, 2, 1}));
  m.ops.push_back(m.ops[0]);
  m.ops[1].in[0] = 5;
  m.ops[1].out = {6};
  m.outputs = {5, 6};
  Diagnostics diags;
  auto graph = frontends::read_tflite(m.bytes(), "m.tflite", diags);
  ASSERT_TRUE(graph.ok()) << diags.str();
  // The second layer goes on where the first one ended.
  ASSERT_EQ(graph->states.size(), 2u);
  ASSERT_EQ(graph->ops.size(), 2u);
  for (size_t i : {0u, 1u}) {
    EXPECT_EQ(graph->ops[0].operands[18 + i], graph->states[i].before);
    EXPECT_EQ(graph->ops[1].operands[18 + i], graph->ops[0].results[1 + i]);
    EXPECT_EQ(graph->ops[1].results[1 + i], graph->states[i].after);
  }
}

TEST(TfliteVariables, TensorWithData) {
  TestModel m = recurrent();
  m.tensors[3].data.assign(4, 0);
  EXPECT_TRUE(has(said(m), "'h': error: a variable tensor must not have data, and must not be an input or a result"))
      << said(m);
  m = recurrent();
  m.inputs = {0, 3};
  EXPECT_TRUE(has(said(m), "'h': error: a variable tensor must not have data, and must not be an input or a result"))
      << said(m);
}

TEST(TfliteVariables, LayerWithoutThem) {
  TestModel m = recurrent();
  m.tensors[3].variable = false;
  m.inputs = {0, 3};
  EXPECT_TRUE(has(said(m), "has 3 results, the model lists 2")) << said(m);
}

TEST(TfliteVariables, LayerWithOnePeephole) {
  TestModel m = recurrent();
  m.ops[0].in[10] = 2;
  EXPECT_TRUE(has(said(m), "error: peepholes go to the input, forget and output gate, or to none")) << said(m);
}

TEST(TfliteVariables, LayerInABranch) {
  TestModel branch = recurrent();
  branch.ops[0].code = 7;
  TestModel m = accumulator();
  m.codes.push_back({44});
  m.tensors = {kBool, value("in", {1, 2, 1}), value("out", {1, 2, 1})};
  m.ops = {if_op({0, 1}, {2}, 1, 1)};
  m.inputs = {0, 1};
  m.outputs = {2};
  m.subgraphs = {branch};
  EXPECT_TRUE(has(said(m), "error: the operator stores state, which is not supported inside a branch or a loop"))
      << said(m);
}

}  // namespace
}  // namespace tflite_variables_test
}  // namespace aotc
