// SPDX-License-Identifier: Apache-2.0
// What is said of whole models that aotc does not take: a few lines, not a line for each operator.
#include <gtest/gtest.h>

#include <cstring>

#include "frontends/tflite/reader.h"
#include "tflite_builder.h"

namespace aotc {
namespace {

using testing::TestModel;
namespace schema = tflite_schema;

constexpr int kAdd = 0, kBatchMatmul = 126, kSub = 41, kCustom = 32, kUnknown = 15;
constexpr int kHashtableFind = 137, kSquaredDifference = 99, kFloorMod = 95;

testing::TestTensor quantized(const std::string& name, schema::TensorType type) {
  return {.name = name, .shape = {1, 4}, .type = type, .scale = {0.5f}, .zero_point = {0}};
}

// in + in, and so on, `count` times.
TestModel chain(schema::TensorType type, int count) {
  TestModel m;
  m.tensors = {quantized("in", type)};
  m.codes = {{kAdd}, {kSub}};
  for (int i = 0; i < count; ++i) {
    m.tensors.push_back(quantized("t" + std::to_string(i), type));
    m.ops.push_back({.code = i == 1 ? 1u : 0u, .in = {i, i}, .out = {i + 1}});
  }
  m.inputs = {0};
  m.outputs = {count};
  return m;
}

// The same of operators that do not take uint8.
TestModel uint8_chain(int count) {
  TestModel m = chain(schema::TensorType_UINT8, count);
  m.codes = {{kSquaredDifference}, {kFloorMod}};
  return m;
}

std::string said(const TestModel& m) {
  Diagnostics diags;
  EXPECT_FALSE(frontends::read_tflite(m.bytes(), "m.tflite", diags).ok());
  return diags.str();
}

TEST(TfliteMessages, Uint8) {
  EXPECT_EQ(said(uint8_chain(40)),
            "m.tflite: error: the model is quantised to uint8, as older converters do, but aotc does not support uint8 "
            "in these operators [model-types]\n"
            "  note: 40 operators: SQUARED_DIFFERENCE (39), FLOOR_MOD\n"
            "  note: 0 of 40 operators compile\n"
            "  help: convert the float model again with converter.target_spec.supported_ops = "
            "[tf.lite.OpsSet.TFLITE_BUILTINS_INT8] and a representative_dataset\n");
}

TEST(TfliteMessages, OneOperatorOfAnotherTypeIsNamed) {
  EXPECT_EQ(said(uint8_chain(1)),
            "m.tflite: op 0 SQUARED_DIFFERENCE 't0': error: operand 0 ('in') of squared_difference is u8; "
            "supported: i8, i32 or f32 [op-type]\n"
            "  help: 'aotc ops' lists the types of every operator\n");
}

TEST(TfliteMessages, DynamicRange) {
  TestModel m;
  m.tensors = {{.name = "in", .shape = {1, 4}},
               {.name = "w",
                .shape = {4, 4},
                .type = schema::TensorType_INT8,
                .data = std::vector<uint8_t>(16, 1),
                .scale = {0.5f},
                .zero_point = {0}},
               {.name = "mid", .shape = {1, 4}},
               {.name = "out", .shape = {1, 4}}};
  m.codes = {{kBatchMatmul}, {kAdd}};
  m.ops = {{.code = 0, .in = {0, 1}, .out = {2}}, {.code = 1, .in = {2, 2}, .out = {3}}};
  m.inputs = {0};
  m.outputs = {3};
  EXPECT_EQ(said(m),
            "m.tflite: error: the model has float activations and int8 weights (dynamic range quantisation), which "
            "aotc does not support in these operators "
            "[model-types]\n"
            "  note: 1 operator: BATCH_MATMUL\n"
            "  note: 1 of 2 operators compile\n"
            "  help: for int8: give the converter a representative_dataset (full integer "
            "quantisation)\n"
            "  help: for float32: do not set 'converter.optimizations'\n");
}

TEST(TfliteMessages, TheCountLooksAtTypes) {
  TestModel m = uint8_chain(4);
  m.codes.push_back({kUnknown});
  m.ops[3].code = 2;
  EXPECT_EQ(said(m),
            "m.tflite: op 3 LSH_PROJECTION 't3': error: operator is not supported [op-unsupported]\n"
            "  note: 0 of 4 operators compile\n"
            "  help: 'aotc ops --like LSH_PROJECTION' lists similar operators that are supported\n"
            "m.tflite: error: the model is quantised to uint8, as older converters do, but aotc does not support uint8 "
            "in these operators [model-types]\n"
            "  note: 3 operators: SQUARED_DIFFERENCE (2), FLOOR_MOD\n"
            "  help: convert the float model again with converter.target_spec.supported_ops = "
            "[tf.lite.OpsSet.TFLITE_BUILTINS_INT8] and a representative_dataset\n");
}

TEST(TfliteMessages, TheSameReasonIsToldOnce) {
  TestModel m = chain(schema::TensorType_BOOL, 4);
  for (testing::TestTensor& t : m.tensors) t.scale.clear(), t.zero_point.clear();
  EXPECT_EQ(said(m),
            "m.tflite: op 0 ADD 't0': error: operand 0 ('in') of add is bool; supported: i8, i16, i32, "
            "f32 or i64 [op-type]\n"
            "  note: the same for 2 more of this type: op 2, 3\n"
            "  help: 'aotc ops' lists the types of every operator\n"
            "m.tflite: op 1 SUB 't1': error: operand 0 ('t0') of sub is bool; supported: i8, i16, i32, "
            "f32 or i64 [op-type]\n"
            "  help: 'aotc ops' lists the types of every operator\n");
}

TEST(TfliteMessages, Float16) {
  TestModel m = chain(schema::TensorType_FLOAT32, 2);
  m.tensors.push_back(
      {.name = "w", .shape = {4}, .type = schema::TensorType_FLOAT16, .data = std::vector<uint8_t>(8, 0)});
  m.ops[1].in = {1, 3};
  EXPECT_EQ(said(m),
            "m.tflite: tensor 'w': error: element type FLOAT16 is not supported [tflite-dtype]\n"
            "  help: float16 is supported only for weights that a DEQUANTIZE converts to float32: convert the model "
            "without float16 inputs, outputs and activations\n");
}

TEST(TfliteMessages, Strings) {
  TestModel m = chain(schema::TensorType_STRING, 2);
  EXPECT_EQ(
      said(m),
      "m.tflite: tensor 'in': error: element type STRING is not supported [tflite-dtype]\n"
      "  note: 2 more tensors of this type\n"
      "  help: strings are not supported: convert text to numbers in your own code, and export only the part of the "
      "model that follows this step\n");
}

TEST(TfliteMessages, FamiliesThatNoMicrocontrollerRuns) {
  TestModel m = chain(schema::TensorType_FLOAT32, 3);
  m.codes = {{kAdd}, {kHashtableFind}, {kCustom, "FlexErf"}, {kCustom, "ethos-u"}};
  m.ops[0].code = 2;
  EXPECT_EQ(said(m),
            "m.tflite: error: 2 operators are not supported [op-unsupported]\n"
            "  note: op 0 FlexErf 't0'\n"
            "  note: op 1 HASHTABLE_FIND 't1'\n"
            "  note: Flex operators run in TensorFlow itself, which does not run on microcontrollers\n"
            "  note: the entries of hash tables are in memory that TensorFlow manages\n"
            "  note: 1 of 3 operators compile\n"
            "  help: convert without tf.lite.OpsSet.SELECT_TF_OPS: the converter then names the layers that need these "
            "operators; replace those layers\n"
            "  help: convert text to numbers in your own code, and export only the part of the model that follows this "
            "step\n");
  m = chain(schema::TensorType_INT8, 1);
  m.codes = {{kCustom, "ethos-u"}};
  EXPECT_EQ(said(m),
            "m.tflite: op 0 ethos-u 't0': error: operator is not supported [op-unsupported]\n"
            "  note: the file is Vela's output: it holds commands for an Ethos-U, not operators\n"
            "  note: 0 of 1 operators compile\n"
            "  help: give aotc the original .tflite model, before Vela compiled it\n");
  m.codes = {{kCustom, "edgetpu-custom-op"}};
  EXPECT_EQ(said(m),
            "m.tflite: op 0 edgetpu-custom-op 't0': error: operator is not supported [op-unsupported]\n"
            "  note: the file is the Edge TPU compiler's output: it holds a program for that chip, not operators\n"
            "  note: 0 of 1 operators compile\n"
            "  help: give aotc the original .tflite model, before edgetpu_compiler compiled it\n");
}

}  // namespace
}  // namespace aotc
