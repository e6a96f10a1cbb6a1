// SPDX-License-Identifier: Apache-2.0
// Shapes that a file leaves open, or that the user gives: what follows from them is computed while
// reading, with this build's own operators.
#include <gtest/gtest.h>

#include <cstring>

#include "frontends/tflite/reader.h"
#include "tflite_builder.h"

namespace aotc {
namespace tflite_shapes_test {
namespace {

using testing::TestModel;
namespace schema = tflite_schema;

constexpr int kAdd = 0, kConcatenation = 2, kDequantize = 6, kReshape = 22, kGather = 36;
constexpr int kStridedSlice = 45, kCast = 53, kShape = 77, kPack = 83, kFill = 94, kRange = 96;

template <typename T>
std::vector<uint8_t> raw_bytes(const std::vector<T>& values) {
  std::vector<uint8_t> out(values.size() * sizeof(T));
  std::memcpy(out.data(), values.data(), out.size());
  return out;
}

testing::TestTensor ints(const char* name, std::vector<int32_t> values, bool scalar = false) {
  return {.name = name,
          .shape = scalar ? std::vector<int32_t>{} : std::vector<int32_t>{static_cast<int32_t>(values.size())},
          .type = schema::TensorType_INT32,
          .data = raw_bytes(values)};
}

testing::TestTensor computed(const char* name, std::vector<int32_t> shape, std::vector<int32_t> signature = {},
                             schema::TensorType type = schema::TensorType_FLOAT32) {
  return {.name = name, .shape = std::move(shape), .type = type, .signature = std::move(signature)};
}

// What Keras's Flatten becomes: the batch is taken out of SHAPE and packed with the rest.
TestModel flatten(std::vector<int32_t> shape, std::vector<int32_t> signature) {
  TestModel m;
  m.tensors = {computed("in", std::move(shape), std::move(signature)),
               computed("shape", {3}, {}, schema::TensorType_INT32),
               ints("zero", {0}),
               ints("one", {1}),
               computed("batch", {}, {}, schema::TensorType_INT32),
               ints("rest", {-1}, true),
               computed("new_shape", {2}, {}, schema::TensorType_INT32),
               computed("flat", {1, 1}, {-1, -1}),
               computed("out", {1, 1}, {-1, -1})};
  m.codes = {{kShape}, {kStridedSlice}, {kPack}, {kReshape}, {kAdd}};
  m.ops = {
      {.code = 0,
       .in = {0},
       .out = {1},
       .options_type = schema::BuiltinOptions_ShapeOptions,
       .options =
           [](testing::FlatBufferBuilder& b) {
             return schema::CreateShapeOptions(b, schema::TensorType_INT32).Union();
           }},
      {.code = 1,
       .in = {1, 2, 3, 3},
       .out = {4},
       .options_type = schema::BuiltinOptions_StridedSliceOptions,
       .options =
           [](testing::FlatBufferBuilder& b) { return schema::CreateStridedSliceOptions(b, 0, 0, 0, 0, 1).Union(); }},
      {.code = 2,
       .in = {4, 5},
       .out = {6},
       .options_type = schema::BuiltinOptions_PackOptions,
       .options = [](testing::FlatBufferBuilder& b) { return schema::CreatePackOptions(b, 2, 0).Union(); }},
      {.code = 3, .in = {0, 6}, .out = {7}},
      {.code = 4, .in = {7, 7}, .out = {8}}};
  m.inputs = {0};
  m.outputs = {8};
  return m;
}

Result<graph::Graph> read(const TestModel& model, Diagnostics& diags, std::map<std::string, graph::Shape> shapes = {}) {
  frontends::ReadOptions options;
  options.shapes = std::move(shapes);
  return frontends::read_tflite(model.bytes(), "m.tflite", diags, options);
}

std::vector<std::string> operators_of(const graph::Graph& graph) {
  std::vector<std::string> out;
  for (const graph::Op& op : graph.ops) out.emplace_back(op.name());
  return out;
}

using Names = std::vector<std::string>;

TEST(TfliteShapes, AnOpenBatchIsOneAndShapesFold) {
  Diagnostics diags;
  auto g = read(flatten({1, 4, 3}, {-1, 4, 3}), diags);
  ASSERT_TRUE(g.ok()) << diags.str();
  EXPECT_EQ(operators_of(*g), (Names{"reshape", "add"}));
  EXPECT_EQ((*g)[g->outputs[0].tensor].type.shape, (graph::Shape{1, 12}));
  EXPECT_EQ(diags.str(), "");
}

TEST(TfliteShapes, GivenShapesAreFollowedToTheOutputs) {
  Diagnostics diags;
  auto g = read(flatten({1, 1, 3}, {-1, -1, 3}), diags, {{"in", {2, 5, 3}}});
  ASSERT_TRUE(g.ok()) << diags.str();
  EXPECT_EQ((*g)[g->outputs[0].tensor].type.shape, (graph::Shape{2, 15}));
  // A file whose shapes are all static is computed anew as well, and not trusted.
  TestModel fixed = flatten({1, 4, 3}, {});
  for (size_t i : {size_t{7}, size_t{8}}) {
    fixed.tensors[i].shape = {1, 12};
    fixed.tensors[i].signature = {};
  }
  g = read(fixed, diags, {{"in", {1, 6, 3}}});
  ASSERT_TRUE(g.ok()) << diags.str();
  EXPECT_EQ((*g)[g->outputs[0].tensor].type.shape, (graph::Shape{1, 18}));
  EXPECT_EQ(diags.str(), "");
}

TEST(TfliteShapes, OpenDimensionsAreRefusedWithTheOptionThatSetsThem) {
  Diagnostics diags;
  EXPECT_FALSE(read(flatten({1, 1, 3}, {-1, -1, 3}), diags).ok());
  EXPECT_EQ(diags.str(),
            "m.tflite: tensor 'in': error: dimension 1 of the input is not fixed (shape ?x?x3) "
            "[dynamic-shape]\n"
            "  help: give a size for each N: --shape 'in=1,N,3'\n"
            "  help: or export the model with a fixed input shape; only the batch may stay open\n");
}

TEST(TfliteShapes, ShapesThatNoInputHasAreRefused) {
  Diagnostics diags;
  EXPECT_FALSE(read(flatten({1, 4, 3}, {}), diags, {{"in", {1, 4}}, {"sound", {1}}}).ok());
  EXPECT_EQ(diags.str(),
            "m.tflite: tensor 'in': error: the input has 3 dimensions (1x4x3), but --shape gives 2 "
            "[dynamic-shape]\n"
            "  help: give a size for each dimension of the model's input\n"
            "m.tflite: error: the model has no input 'sound' [input-name]\n"
            "  note: the model has 'in'\n"
            "  help: name one of these before the '=' of --shape\n");
}

// in[4] + range(0, limit, 1), where the limit is computed from the input if `from_input`.
TestModel counting(bool from_input) {
  TestModel m;
  m.tensors = {computed("in", {4}),
               ints("start", {0}, true),
               ints("limit", {4}, true),
               ints("delta", {1}, true),
               computed("list", {4}, {}, schema::TensorType_INT32),
               computed("floats", {4}),
               computed("out", {4}),
               computed("limit_in", {}, {}, schema::TensorType_INT32)};
  m.codes = {{kRange}, {kCast}, {kAdd}};
  m.ops = {{.code = 0, .in = {1, from_input ? 7 : 2, 3}, .out = {4}},
           {.code = 1, .in = {4}, .out = {5}},
           {.code = 2, .in = {0, 5}, .out = {6}}};
  m.inputs = from_input ? std::vector<int32_t>{0, 7} : std::vector<int32_t>{0};
  m.outputs = {6};
  return m;
}

TEST(TfliteShapes, ConstantsAreComputedWhateverTheyAreFor) {
  Diagnostics diags;
  auto g = read(counting(false), diags);
  ASSERT_TRUE(g.ok()) << diags.str();
  EXPECT_EQ(operators_of(*g), (Names{"add"}));
  EXPECT_EQ((*g)[g->ops[0].operands[1]].constant->to_vector<float>(), (std::vector<float>{0, 1, 2, 3}));
}

TEST(TfliteShapes, WhatIsComputedOnConstantsOnlyIsRefusedOnOthers) {
  Diagnostics diags;
  EXPECT_FALSE(read(counting(true), diags).ok());
  EXPECT_EQ(diags.str(),
            "m.tflite: op 0 RANGE 'list': error: operator is supported only on constants, but operand 1 'limit_in' is "
            "computed when the model runs [op-unsupported]\n"
            "  note: 2 of 3 operators compile\n");
  Diagnostics of_output;
  TestModel m = counting(false);
  m.outputs = {6, 4};
  EXPECT_FALSE(read(m, of_output).ok());
  EXPECT_EQ(of_output.str(),
            "m.tflite: op 0 RANGE 'list': error: operator is supported only on constants, but its result is an output "
            "[op-unsupported]\n"
            "  note: 2 of 3 operators compile\n");
}

// Weights that a model holds as int8 and dequantises are 4 times as large as floats: they stay as
// they are where the reader may be left to the device.
TEST(TfliteShapes, LargeConstantsStayAsTheyAreWhereTheyCan) {
  for (int32_t elements : {1365, 1366}) {
    TestModel m;
    m.tensors = {computed("in", {1, elements}),
                 {.name = "w",
                  .shape = {elements},
                  .type = schema::TensorType_INT8,
                  .data = std::vector<uint8_t>(static_cast<size_t>(elements), 3),
                  .scale = {0.5f},
                  .zero_point = {0}},
                 computed("real", {elements}),
                 computed("out", {1, elements})};
    m.codes = {{kDequantize}, {kAdd}};
    m.ops = {{.code = 0, .in = {1}, .out = {2}}, {.code = 1, .in = {0, 2}, .out = {3}}};
    m.inputs = {0};
    m.outputs = {3};
    Diagnostics diags;
    auto g = read(m, diags);
    ASSERT_TRUE(g.ok()) << diags.str();
    // 3 bytes an element more.
    EXPECT_EQ(operators_of(*g), elements == 1365 ? Names{"add"} : (Names{"dequantize", "add"}));
  }
}

TEST(TfliteShapes, LargeConstantsAreComputedWhereTheyMustBe) {
  TestModel m;
  constexpr int32_t kChannels = 1366;
  m.tensors = {computed("in", {1, kChannels}),
               {.name = "w",
                .shape = {1, kChannels},
                .type = schema::TensorType_INT8,
                .data = std::vector<uint8_t>(kChannels, 3),
                .scale = {0.5f},
                .zero_point = {0}},
               computed("real", {1, kChannels}),
               computed("out", {1, 1})};
  m.codes = {{kDequantize}, {9}};
  m.ops = {{.code = 0, .in = {1}, .out = {2}}, {.code = 1, .in = {0, 2}, .out = {3}}};
  m.inputs = {0};
  m.outputs = {3};
  Diagnostics diags;
  auto g = read(m, diags);
  ASSERT_TRUE(g.ok()) << diags.str();
  EXPECT_EQ(operators_of(*g), (Names{"fully_connected"}));
}

TEST(TfliteShapes, ConstantsWithoutEndAreRefused) {
  TestModel m = counting(false);
  m.tensors[2] = ints("limit", {1 << 24}, true);
  m.tensors[0].shape = {1 << 24};
  for (int i = 0; i < 8; ++i) {
    auto id = static_cast<int32_t>(m.tensors.size());
    m.tensors.push_back(computed("more", {1 << 24}, {}, schema::TensorType_INT32));
    m.ops.insert(m.ops.begin(), {.code = 0, .in = {1, 2, 3}, .out = {id}});
  }
  Diagnostics diags;
  EXPECT_FALSE(read(m, diags).ok());
  EXPECT_NE(diags.str().find("the model's computations on constants need more steps than aotc allows [tflite-limit]"),
            std::string::npos)
      << diags.str();
}

TEST(TfliteShapes, ABiasQuantisedAlongAnotherDimensionIsPutRight) {
  TestModel m;
  m.tensors = {{.name = "in", .shape = {1, 2}, .type = schema::TensorType_INT8, .scale = {0.5f}, .zero_point = {0}},
               {.name = "w",
                .shape = {2, 2},
                .type = schema::TensorType_INT8,
                .data = {1, 2, 3, 4},
                .scale = {0.5f, 0.25f},
                .zero_point = {0, 0},
                .axis = 0},
               {.name = "bias",
                .shape = {2},
                .type = schema::TensorType_INT32,
                .data = raw_bytes<int32_t>({5, 6}),
                .scale = {0.25f, 0.125f},
                .zero_point = {0, 0},
                .axis = 3},
               {.name = "out", .shape = {1, 2}, .type = schema::TensorType_INT8, .scale = {1.0f}, .zero_point = {0}},
               {.name = "bias2",
                .shape = {2},
                .type = schema::TensorType_INT32,
                .data = raw_bytes<int32_t>({7, 8}),
                .scale = {0.5f, 0.25f},
                .zero_point = {0, 0},
                .axis = 1},
               {.name = "out2", .shape = {1, 2}, .type = schema::TensorType_INT8, .scale = {1.0f}, .zero_point = {0}}};
  m.codes = {{9}};
  m.ops = {{.code = 0, .in = {0, 1, 2}, .out = {3}}, {.code = 0, .in = {3, 1, 4}, .out = {5}}};
  m.inputs = {0};
  m.outputs = {5};
  Diagnostics diags;
  auto g = read(m, diags);
  ASSERT_TRUE(g.ok()) << diags.str();
  EXPECT_EQ((*g)[g->ops[0].operands[2]].type.quantization.axis, 0);
  EXPECT_EQ(diags.str(),
            "m.tflite: tensor 'bias': warning: the tensor has one dimension but is quantised along another; aotc reads "
            "it as quantised along dimension 0 [quantized-dimension]\n"
            "  note: 1 more tensor\n");
  // Another count is no matter of reading.
  m.tensors[2].scale = {0.25f, 0.125f, 0.5f};
  m.tensors[2].zero_point = {0, 0, 0};
  Diagnostics refused;
  EXPECT_FALSE(read(m, refused).ok());
}

}  // namespace
}  // namespace tflite_shapes_test
}  // namespace aotc
