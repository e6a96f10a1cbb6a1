// SPDX-License-Identifier: Apache-2.0
// Weights of float16, as the converter writes them: constants that a DEQUANTIZE makes float32.
#include <gtest/gtest.h>

#include "frontends/tflite/reader.h"
#include "tflite_builder.h"

namespace aotc {
namespace {

using testing::TestModel;
namespace schema = tflite_schema;

constexpr int kAddCode = 0, kDequantize = 6;

// in + float32(weights)
TestModel widened() {
  TestModel m;
  m.tensors = {{.name = "in", .shape = {1, 2}},
               {.name = "half", .shape = {2}, .type = schema::TensorType_FLOAT16, .data = {0x00, 0x3C, 0x01, 0x80}},
               {.name = "weights", .shape = {2}},
               {.name = "out", .shape = {1, 2}}};
  m.codes = {{kDequantize}, {kAddCode}};
  m.ops = {{.code = 0, .in = {1}, .out = {2}}, {.code = 1, .in = {0, 2}, .out = {3}}};
  m.inputs = {0};
  m.outputs = {3};
  return m;
}

std::string refusal_of(const TestModel& m) {
  Diagnostics diags;
  EXPECT_FALSE(frontends::read_tflite(m.bytes(), "m.tflite", diags).ok());
  return diags.str();
}

const std::string kWarning =
    "m.tflite: warning: the model's weights are float16 (1 tensor, 4 bytes) and become float32 "
    "[float16-weights]\n"
    "  help: for smaller weights, quantise the model to int8: int8 weights take a quarter of the bytes\n";

TEST(TfliteFloat16, WeightsBecomeFloat32) {
  Diagnostics diags;
  auto graph = frontends::read_tflite(widened().bytes(), "m.tflite", diags);
  ASSERT_TRUE(graph.ok()) << diags.str();
  ASSERT_EQ(graph->ops.size(), 1u);
  EXPECT_EQ(diags.str(), kWarning);
  const graph::Tensor& weights = (*graph)[graph->ops[0].operands[1]];
  EXPECT_EQ(weights.name, "weights");
  EXPECT_EQ(weights.type.dtype, DType::kF32);
  EXPECT_EQ(weights.constant->to_vector<float>(), (std::vector<float>{1.0f, -0x1p-24f}));
}

constexpr const char* kRefused =
    "error: element type FLOAT16 is not supported [tflite-dtype]\n"
    "  help: float16 is supported only for weights that a DEQUANTIZE converts to float32: convert the model "
    "without float16 inputs, outputs and activations\n";

TEST(TfliteFloat16, AnInputIsRefused) {
  TestModel m = widened();
  m.tensors[1].data.clear();
  m.inputs = {0, 1};
  EXPECT_EQ(refusal_of(m), std::string("m.tflite: tensor 'half': ") + kRefused);
}

TEST(TfliteFloat16, WhatAnotherOperatorReadsIsRefused) {
  TestModel m = widened();
  m.ops.push_back({.code = 1, .in = {0, 1}, .out = {4}});
  m.tensors.push_back({.name = "sum", .shape = {1, 2}});
  m.outputs = {3, 4};
  EXPECT_EQ(refusal_of(m), std::string("m.tflite: tensor 'half': ") + kRefused);
}

TEST(TfliteFloat16, AResultOfAnotherShapeIsRefused) {
  TestModel m = widened();
  m.tensors[2].shape = {1, 2};
  EXPECT_EQ(refusal_of(m),
            kWarning +
                "m.tflite: op 0 DEQUANTIZE 'weights': error: the operator converts FLOAT16 to f32 of shape 1x2, but "
                "the operand has shape 2 "
                "[tflite-invalid]\n"
                "  help: the file is damaged; export the model again\n");
}

TEST(TfliteFloat16, DataOfAnotherSizeIsRefused) {
  TestModel m = widened();
  m.tensors[1].data.resize(8);
  EXPECT_EQ(refusal_of(m),
            "m.tflite: tensor 'half': error: there are 8 bytes of data for shape 2 of FLOAT16, expected 4 "
            "[tflite-invalid]\n"
            "  help: the file is damaged; export the model again\n");
}

TEST(TfliteFloat16, AResultThatIsAnOutputIsRefused) {
  TestModel m = widened();
  m.outputs = {3, 2};
  EXPECT_EQ(refusal_of(m),
            "m.tflite: op 0 DEQUANTIZE 'weights': error: operator converts a float16 constant to float32, but its "
            "result is an output [op-unsupported]\n"
            "  note: 1 of 2 operators compile\n" +
                kWarning);
}

}  // namespace
}  // namespace aotc
