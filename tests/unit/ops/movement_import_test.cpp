// SPDX-License-Identifier: Apache-2.0
// What files may say of reshapes, slices and the like beyond what the operator cases hold: open
// shapes, operands that are not constant, masks that contradict each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "../frontends/tflite_builder.h"
#include "frontends/tflite/reader.h"
#include "ops/operator.h"
#include "ops/slice/slice.h"

namespace aotc::ops {
namespace movement_import_test {
namespace {

using namespace aotc::testing;

template <typename T>
std::vector<uint8_t> bytes_of(const std::vector<T>& values) {
  std::vector<uint8_t> out(values.size() * sizeof(T));
  std::memcpy(out.data(), values.data(), out.size());
  return out;
}

TestTensor ints(const std::string& name, const std::vector<int32_t>& values) {
  return {name, {static_cast<int32_t>(values.size())}, schema::TensorType_INT32, bytes_of(values)};
}

// One operator of data x (tensor 0) and what else there is, giving y, the last tensor.
TestModel model_of(int builtin, std::vector<TestTensor> tensors, int inputs = 1) {
  TestModel m;
  m.codes = {{builtin}};
  TestOp op;
  for (size_t i = 0; i + 1 < tensors.size(); ++i) op.in.push_back(static_cast<int32_t>(i));
  op.out = {static_cast<int32_t>(tensors.size()) - 1};
  m.tensors = std::move(tensors);
  m.outputs = op.out;
  m.ops = {op};
  for (int i = 0; i < inputs; ++i) m.inputs.push_back(i);
  return m;
}

// The result's shape, or the messages.
std::string outcome(const TestModel& model) {
  Diagnostics diags;
  auto graph = frontends::read_tflite(model.bytes(), "m.tflite", diags);
  if (!graph || !verify_graph(*graph, diags)) return diags.str();
  return graph::to_string((*graph)[graph->outputs[0].tensor].type.shape);
}

constexpr int kReshape = 22, kTranspose = 39, kMean = 40, kPad = 34, kExpandDims = 70, kSplit = 49;

TEST(ReshapeImport, TakesTheShapeFromTheResultWhereTheOperandIsComputed) {
  TestModel m = model_of(kReshape, {{"x", {2, 6}}, {"s", {2}, schema::TensorType_INT32}, {"y", {3, 4}}}, 2);
  EXPECT_EQ(outcome(m), "3x4");
  m.tensors[2].shape = {3, 5};
  EXPECT_THAT(outcome(m), ::testing::HasSubstr("[op-attribute]"));
}

TEST(ReshapeImport, SettlesAnOpenBatchByTheConstant) {
  TestModel m = model_of(kReshape, {{"x", {1, 2, 6}}, ints("s", {-1, 12}), {"y", {1, 12}}});
  m.tensors[0].signature = {-1, 2, 6};
  m.tensors[2].signature = {-1, 12};
  EXPECT_EQ(outcome(m), "1x12");
  // The file leaves the second dimension open and stores 1 for it.
  m.tensors[2].shape = {1, 1};
  m.tensors[2].signature = {-1, -1};
  EXPECT_EQ(outcome(m), "1x12");
}

TEST(ReshapeImport, RefusesWhatCannotBe) {
  auto with = [](std::vector<int32_t> shape) {
    return outcome(model_of(kReshape, {{"x", {2, 6}}, ints("s", shape), {"y", {3, 4}}}));
  };
  EXPECT_EQ(with({3, -1}), "3x4");
  EXPECT_THAT(with({-1, -1}), ::testing::HasSubstr("[op-attribute]"));
  for (std::vector<int32_t> shape :
       {std::vector<int32_t>{5, -1}, {0, -1}, {-2, -6}, {3, 5}, {INT32_MAX, INT32_MAX, 4}, {INT32_MIN, -1}, {4, 3}})
    EXPECT_THAT(with(shape), ::testing::HasSubstr("[op-shape]"));
  EXPECT_THAT(with(std::vector<int32_t>(65, 1)), ::testing::HasSubstr("[op-attribute]"));
}

TEST(ConstantOperands, MustBeConstantIntegers) {
  for (int builtin : {kTranspose, kMean, kExpandDims, kPad}) {
    TestModel m = model_of(builtin, {{"x", {2, 6}}, {"p", {2}, schema::TensorType_INT32}, {"y", {2, 6}}}, 2);
    EXPECT_THAT(outcome(m), ::testing::HasSubstr("must be constant")) << builtin;
    m = model_of(builtin,
                 {{"x", {2, 6}}, {"p", {1}, schema::TensorType_FLOAT32, bytes_of<float>({1.0f})}, {"y", {2, 6}}});
    EXPECT_THAT(outcome(m), ::testing::HasSubstr("expected i32 or i64")) << builtin;
    m = model_of(builtin, {{"x", {2, 6}}, {"y", {2, 6}}});
    EXPECT_THAT(outcome(m), ::testing::HasSubstr("error")) << builtin;
  }
  // SPLIT's axis comes first.
  TestModel m = model_of(kSplit, {{"a", {}, schema::TensorType_INT32}, {"x", {4}}, {"y", {4}}}, 2);
  EXPECT_THAT(outcome(m), ::testing::HasSubstr("must be constant"));
}

// Measured on LiteRT: what STRIDED_SLICE takes of 0, 1, 2, ... in row-major order.
struct Settled {
  std::vector<int64_t> begin, strides, counts, shape;
  bool operator==(const Settled&) const = default;
};

std::optional<Settled> settle(graph::Shape in, StridedSliceSpec spec) {
  graph::Graph graph;
  graph::Op op;
  op.definition = operators().find("slice");
  graph::TensorType type;
  type.shape = std::move(in);
  op.operands = {graph.add_tensor({"x", type, {}, 0})};
  Diagnostics diags;
  SliceAttrs out;
  bool good = resolve_strided_slice({graph, op}, spec, out, diags);
  EXPECT_EQ(good, !diags.has_errors());
  if (!good) return std::nullopt;
  return Settled{out.begin, out.strides, out.counts, out.shape};
}

TEST(StridedSlice, AnEndThatIsAnOffsetCountsFromTheSettledBegin) {
  StridedSliceSpec spec{{-4}, {2}, {1}};
  spec.end_is_offset = true;
  EXPECT_EQ(settle({10}, spec), (Settled{{6}, {1}, {2}, {2}}));
  spec.begin = {-20};
  spec.end = {3};
  EXPECT_EQ(settle({10}, spec), (Settled{{0}, {1}, {3}, {3}}));
  spec = {{8}, {-3}, {-1}};
  spec.end_is_offset = true;
  EXPECT_EQ(settle({10}, spec), (Settled{{8}, {-1}, {3}, {3}}));
  // LiteRT reads outside the tensor, or ignores the mask.
  spec = {{2}, {-3}, {1}};
  spec.end_is_offset = true;
  EXPECT_EQ(settle({10}, spec), std::nullopt);
  spec = {{3}, {4}, {1}};
  spec.end_is_offset = true;
  spec.end_mask = 1;
  EXPECT_EQ(settle({10}, spec), std::nullopt);
}

TEST(StridedSlice, MasksInEveryCombinationThatIsDefined) {
  StridedSliceSpec spec{{0, 0, 0, 1}, {1, 4, 3, 3}, {1, 1, 1, 1}};
  spec.new_axis_mask = 1;
  spec.ellipsis_mask = 2;
  spec.shrink_axis_mask = 8;
  EXPECT_EQ(settle({2, 3, 4}, spec), (Settled{{0, 0, 1}, {1, 1, 1}, {2, 3, 1}, {1, 2, 3}}));
  spec = {{0, 0, 1}, {1, 4, 3}, {1, 1, 1}};
  spec.new_axis_mask = 2;
  spec.ellipsis_mask = 1;
  EXPECT_EQ(settle({2, 3, 4}, spec), (Settled{{0, 0, 1}, {1, 1, 1}, {2, 3, 2}, {2, 3, 1, 2}}));
  spec = {{0, 0}, {1, 4}, {1, 1}};
  spec.new_axis_mask = 1;
  spec.shrink_axis_mask = 1;
  EXPECT_EQ(settle({3, 4}, spec), (Settled{{0, 0}, {1, 1}, {3, 4}, {1, 3, 4}}));
}

TEST(StridedSlice, RefusesWhatIsUndefined) {
  auto refused = [](graph::Shape in, StridedSliceSpec spec) { return !settle(std::move(in), spec); };
  StridedSliceSpec spec{{3}, {4}, {-1}};
  spec.shrink_axis_mask = 1;
  EXPECT_TRUE(refused({10}, spec));  // shrinks with a negative stride
  spec.strides = {1};
  EXPECT_FALSE(refused({10}, spec));
  spec.begin_mask = 1;
  EXPECT_TRUE(refused({10}, spec));
  spec.begin_mask = 0;
  for (int64_t index : {int64_t{-11}, int64_t{10}, INT64_MIN, INT64_MAX}) {
    spec.begin = {index};
    EXPECT_TRUE(refused({10}, spec)) << index;
  }
  EXPECT_TRUE(refused({10}, {{0}, {5}, {0}}));
  EXPECT_TRUE(refused({10}, {{0}, {5}, {INT64_MIN}}));
  EXPECT_TRUE(refused({10}, {{0, 0}, {5, 1}, {1, 1}}));
  EXPECT_TRUE(refused({10}, {{0}, {5, 1}, {1}}));
  EXPECT_TRUE(refused({10}, {{5}, {5}, {1}}));
  StridedSliceSpec two{{0, 0}, {0, 0}, {1, 1}};
  two.ellipsis_mask = 3;
  EXPECT_TRUE(refused({10, 10}, two));
}

}  // namespace
}  // namespace movement_import_test
}  // namespace aotc::ops
