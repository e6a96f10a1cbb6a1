// SPDX-License-Identifier: Apache-2.0
// Weights of 4 bits, two in a byte with the low half first.
#include <gtest/gtest.h>

#include <functional>

#include "frontends/tflite/reader.h"
#include "tflite_builder.h"

namespace aotc {
namespace {

using testing::TestModel;
namespace schema = tflite_schema;

constexpr int kInt4FullyConnected = 9, kInt4Abs = 101;

// Three units of three inputs: nine weights, and a half of a byte that nothing uses.
TestModel int4_model() {
  TestModel m;
  m.tensors = {{.name = "in", .shape = {1, 3}, .type = schema::TensorType_INT8, .scale = {0.5f}, .zero_point = {0}},
               {.name = "weights",
                .shape = {3, 3},
                .type = schema::TensorType_INT4,
                .data = {0x81, 0xF7, 0x20, 0x93, 0xF8},
                .scale = {0.25f},
                .zero_point = {0}},
               {.name = "out", .shape = {1, 3}, .type = schema::TensorType_INT8, .scale = {0.5f}, .zero_point = {0}}};
  m.codes = {{kInt4FullyConnected}, {kInt4Abs}};
  m.ops = {{.code = 0, .in = {0, 1}, .out = {2}}};
  m.inputs = {0};
  m.outputs = {2};
  return m;
}

std::string int4_said(const TestModel& m) {
  Diagnostics diags;
  EXPECT_FALSE(frontends::read_tflite(m.bytes(), "m.tflite", diags).ok());
  return diags.str();
}

TEST(TfliteInt4, WeightsTakeAByteEachInTheGraph) {
  Diagnostics diags;
  auto graph = frontends::read_tflite(int4_model().bytes(), "m.tflite", diags);
  ASSERT_TRUE(graph.ok()) << diags.str();
  const graph::Tensor& weights = (*graph)[graph->ops[0].operands[1]];
  EXPECT_EQ(weights.type.dtype, DType::kI4);
  EXPECT_EQ(weights.constant->to_vector<int8_t>(), (std::vector<int8_t>{1, -8, 7, -1, 0, 2, 3, -7, -8}));
}

TEST(TfliteInt4, OfAnotherLengthIsRefused) {
  TestModel m = int4_model();
  m.tensors[1].data.resize(4);
  EXPECT_NE(int4_said(m).find("m.tflite: tensor 'weights': error: there are 4 bytes of data for shape 3x3 of INT4, "
                              "expected 5 [tflite-invalid]"),
            std::string::npos)
      << int4_said(m);
}

TEST(TfliteInt4, ActivationsAreRefused) {
  TestModel m = int4_model();
  m.tensors[0].type = schema::TensorType_INT4;
  EXPECT_NE(
      int4_said(m).find("m.tflite: tensor 'in': error: a tensor of type INT4 has no constant data [tflite-dtype]\n"
                        "  help: int4 is supported only for weights: convert the model with int8 activations\n"),
      std::string::npos)
      << int4_said(m);
}

TEST(TfliteInt4, AZeroPointIsRefused) {
  TestModel m = int4_model();
  m.tensors[1].zero_point = {1};
  EXPECT_NE(int4_said(m).find("int4 weights have zero point 1, expected 0 [op-quantization]"), std::string::npos)
      << int4_said(m);
}

TEST(TfliteInt4, OtherOperatorsRefuseIt) {
  TestModel m = int4_model();
  m.tensors.push_back(
      {.name = "magnitude", .shape = {3, 3}, .type = schema::TensorType_INT8, .scale = {0.25f}, .zero_point = {0}});
  m.ops.push_back({.code = 1, .in = {1}, .out = {3}});
  m.outputs = {2, 3};
  EXPECT_NE(int4_said(m).find("is i4; supported: "), std::string::npos) << int4_said(m);
}

// Two units of four inputs, in blocks of two: four scales.
TestModel blocks_model() {
  TestModel m;
  m.tensors = {{.name = "in", .shape = {3, 4}},
               {.name = "weights",
                .shape = {2, 4},
                .type = schema::TensorType_INT4,
                .data = {0x81, 0xF7, 0x20, 0x93},
                .block_size = 2,
                .block_scales = 2},
               {.name = "scales",
                .shape = {2, 2},
                .type = schema::TensorType_FLOAT16,
                .data = {0x00, 0x3C, 0x00, 0x38, 0x00, 0x40, 0x00, 0x00}},
               {.name = "out", .shape = {3, 2}}};
  m.codes = {{kInt4FullyConnected}, {kInt4Abs}};
  m.ops = {{.code = 0, .in = {0, 1}, .out = {3}}};
  m.inputs = {0};
  m.outputs = {3};
  return m;
}

TEST(TfliteInt4, ScalesOfBlocksAreAnOperand) {
  Diagnostics diags;
  auto graph = frontends::read_tflite(blocks_model().bytes(), "m.tflite", diags);
  ASSERT_TRUE(graph.ok()) << diags.str();
  EXPECT_EQ(diags.str(), "");
  const graph::Op& op = graph->ops[0];
  EXPECT_EQ(op.name(), "fully_connected_blocks");
  EXPECT_FALSE((*graph)[op.operands[1]].type.quantization.present());
  EXPECT_EQ((*graph)[op.operands[2]].constant->to_vector<float>(), (std::vector<float>{1.0f, 0.5f, 2.0f, 0.0f}));
}

TEST(TfliteInt4, ScalesOfBlocksThatDoNotFitAreRefused) {
  const auto refused = [](const std::function<void(TestModel&)>& change, const std::string& text) {
    TestModel m = blocks_model();
    change(m);
    EXPECT_NE(int4_said(m).find(text), std::string::npos) << int4_said(m);
  };
  const std::string affine = "only affine quantisation, per tensor or per channel, is supported";
  refused([](TestModel& m) { m.tensors[1].block_scales = 4; }, affine);
  refused([](TestModel& m) { m.tensors[1].block_scales = -1; }, affine);
  refused([](TestModel& m) { m.tensors[1].block_size = 4; }, affine);
  refused([](TestModel& m) { m.tensors[1].block_zeros = 2; }, affine);
  refused([](TestModel& m) { m.tensors[1].type = schema::TensorType_INT8; }, affine);
  refused([](TestModel& m) { m.ops[0].code = 1; }, affine);
  refused([](TestModel& m) { m.tensors[2].data = {}; }, "element type FLOAT16 is not supported");
  refused([](TestModel& m) { m.tensors[2].data[1] = 0xBC; }, "a block has scale -1");
  refused([](TestModel& m) { m.tensors[2].data[1] = 0x7C; }, "a block has scale inf");
}

TEST(TfliteInt4, CustomScalesAreRefused) {
  TestModel m = int4_model();
  m.tensors[1].custom_quantization = true;
  EXPECT_NE(int4_said(m).find("only affine quantisation, per tensor or per channel, is supported"), std::string::npos)
      << int4_said(m);
}

}  // namespace
}  // namespace aotc
