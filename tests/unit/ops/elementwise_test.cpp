// SPDX-License-Identifier: Apache-2.0
// Elementwise operators where the cases generated from LiteRT do not reach: hostile operands,
// broadcasting as such, and forms that are chosen at compile time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>

#include "ops/common/affine.h"
#include "ops/common/broadcast.h"
#include "ops/common/lut.h"
#include "ops/operator.h"
#include "support/numerics.h"

namespace aotc::ops {
namespace {

using graph::Shape;
using testing::ElementsAre;
using ::testing::HasSubstr;

// A graph of one operator over tensors of the given types.
struct OneOp {
  graph::Graph graph;

  OneOp(std::string_view name, const std::vector<graph::TensorType>& operands, const graph::TensorType& result) {
    graph::Op op;
    op.definition = operators().find(name);
    op.attributes = op.definition->default_attributes();
    for (const graph::TensorType& type : operands) op.operands.push_back(add(type));
    op.results.push_back(add(result));
    graph.ops.push_back(op);
  }
  graph::TensorId add(const graph::TensorType& type) {
    graph::Tensor tensor;
    tensor.name = "t";
    tensor.type = type;
    return graph.add_tensor(std::move(tensor));
  }
  OpView view() const { return {graph, graph.ops[0]}; }
  const Operator& definition() const { return definition_of(graph.ops[0]); }
  // The messages of inference and verification, empty if both accept.
  std::string refusal() const {
    Diagnostics diags;
    if (definition().infer(view(), diags)) (void)definition().verify(view(), diags);
    return diags.str();
  }
};

graph::TensorType i8(Shape shape, float scale, int64_t zero_point) {
  return {DType::kI8, std::move(shape), {{scale}, {zero_point}, 0}};
}
graph::TensorType f32(Shape shape) { return {DType::kF32, std::move(shape), {}}; }

constexpr const char* kUnary[] = {"relu",     "relu6", "relu_n1_to_1", "quantize",   "dequantize",
                                  "logistic", "tanh",  "leaky_relu",   "hard_swish", "cast",
                                  "neg",      "abs",   "logical_not",  "floor",      "round",
                                  "exp",      "log",   "sqrt",         "square",     "relu_0_to_1"};
constexpr const char* kBinary[] = {
    "add",   "sub", "mul",      "maximum", "minimum", "less", "equal", "logical_and", "squared_difference",
    "prelu", "pow", "select_v2"};

TEST(Elementwise, SurvivesMissingAndSurplusOperands) {
  for (const char* name : kUnary) {
    EXPECT_THAT(OneOp(name, {}, f32({1})).refusal(), HasSubstr("[op-operands]")) << name;
    EXPECT_THAT(OneOp(name, {f32({1}), f32({1})}, f32({1})).refusal(), HasSubstr("[op-operands]")) << name;
    OneOp absent(name, {f32({1})}, f32({1}));
    absent.graph.ops[0].operands[0] = graph::TensorId{};
    EXPECT_THAT(absent.refusal(), HasSubstr("[op-operands]")) << name;
  }
  for (const char* name : kBinary)
    EXPECT_THAT(OneOp(name, {f32({1})}, f32({1})).refusal(), HasSubstr("[op-operands]")) << name;
}

TEST(Elementwise, RefusesIntegersWithoutQuantisation) {
  graph::TensorType bare{DType::kI8, {4}, {}};
  for (const char* name :
       {"relu", "relu6", "logistic", "tanh", "leaky_relu", "hard_swish", "abs", "exp", "log", "relu_0_to_1"})
    EXPECT_THAT(OneOp(name, {bare}, bare).refusal(), HasSubstr("[op-quantization]")) << name;
  for (const char* name : {"add", "sub", "mul", "squared_difference", "prelu"})
    EXPECT_THAT(OneOp(name, {bare, bare}, bare).refusal(), HasSubstr("[op-quantization]")) << name;
  EXPECT_THAT(OneOp("dequantize", {bare}, f32({4})).refusal(), HasSubstr("[op-quantization]"));
  EXPECT_THAT(OneOp("quantize", {f32({4})}, bare).refusal(), HasSubstr("[op-quantization]"));
}

TEST(Elementwise, RefusesScalesTheReferenceOverflowsOn) {
  graph::TensorType huge = i8({4}, 1e30f, 0), tiny = i8({4}, 1e-30f, 0), one = i8({4}, 1.0f, 0);
  for (const char* name : {"relu", "leaky_relu", "quantize"})
    EXPECT_THAT(OneOp(name, {huge}, tiny).refusal(), HasSubstr("[op-quantization]")) << name;
  EXPECT_THAT(OneOp("mul", {huge, huge}, one).refusal(), HasSubstr("[op-quantization]"));
  EXPECT_THAT(OneOp("add", {huge, one}, tiny).refusal(), HasSubstr("[op-quantization]"));
  EXPECT_THAT(OneOp("sub", {one, one}, tiny).refusal(), HasSubstr("[op-quantization]"));
  EXPECT_THAT(OneOp("squared_difference", {one, one}, tiny).refusal(), HasSubstr("[op-quantization]"));
  EXPECT_THAT(OneOp("abs", {huge}, tiny).refusal(), HasSubstr("[op-quantization]"));
  EXPECT_THAT(OneOp("prelu", {huge, one}, tiny).refusal(), HasSubstr("[op-quantization]"));
  EXPECT_THAT(OneOp("hard_swish", {huge}, tiny).refusal(), HasSubstr("[op-quantization]"));
  EXPECT_THAT(OneOp("maximum", {one, tiny}, one).refusal(), HasSubstr("[op-quantization]"));
}

TEST(Elementwise, RowsRefuseWhatTheirExpressionIsNotFor) {
  graph::TensorType truth{DType::kBool, {4}, {}}, one = i8({4}, 1.0f, 0), half = i8({4}, 0.5f, 0);
  EXPECT_EQ(OneOp("less", {half, half}, truth).refusal(), "");
  EXPECT_THAT(OneOp("less", {half, one}, truth).refusal(), HasSubstr("[op-quantization]"));
  EXPECT_THAT(OneOp("less", {half, half}, half).refusal(), HasSubstr("[op-type]"));
  EXPECT_THAT(OneOp("less", {truth, truth}, truth).refusal(), HasSubstr("[op-type]"));
  EXPECT_THAT(OneOp("neg", {i8({4}, 1.0f, 3)}, i8({4}, 1.0f, 3)).refusal(), HasSubstr("[op-quantization]"));
  EXPECT_THAT(OneOp("select", {half, half, half}, half).refusal(), HasSubstr("[op-type]"));
  EXPECT_THAT(OneOp("select", {truth, half, one}, half).refusal(), HasSubstr("[op-quantization]"));
  EXPECT_THAT(OneOp("select", {truth, f32({2, 4}), f32({2, 4})}, f32({2, 4})).refusal(), HasSubstr("[op-shape]"));
  EXPECT_EQ(OneOp("select_v2", {truth, f32({2, 4}), f32({2, 1})}, f32({2, 4})).refusal(), "");
  EXPECT_THAT(OneOp("prelu", {f32({4}), f32({2, 4})}, f32({2, 4})).refusal(), HasSubstr("[op-shape]"));
}

// The operator on the operands' bytes by the interpreter: the status and the result.
template <typename T>
bool runs(std::string_view name, std::vector<T> a, std::vector<T> b, const graph::TensorType& type,
          std::vector<T>* out) {
  OneOp op(name, {type, type}, type);
  EXPECT_EQ(op.refusal(), "");
  Lowered lowered = op.definition().lower(op.view(), {});
  auto bytes = [](std::vector<T>& v) {
    return tir::Memory{reinterpret_cast<uint8_t*>(v.data()), static_cast<int64_t>(v.size() * sizeof(T))};
  };
  out->resize(a.size());
  Diagnostics diags;
  return tir::interpret(*lowered.function, {bytes(a), bytes(b), bytes(*out)}, diags).ok();
}

TEST(Elementwise, FailsWhereTheReferenceStops) {
  graph::TensorType whole{DType::kI32, {2}, {}}, real = f32({2});
  std::vector<int32_t> out;
  std::vector<float> reals;
  for (const char* name : {"div", "floor_div", "floor_mod"}) {
    EXPECT_FALSE(runs<int32_t>(name, {7, 7}, {2, 0}, whole, &out)) << name;
    EXPECT_TRUE(runs<int32_t>(name, {7, INT32_MIN}, {2, -1}, whole, &out)) << name;
    EXPECT_EQ(out[1], std::string_view(name) == "floor_mod" ? 0 : INT32_MIN) << name;
  }
  EXPECT_FALSE(runs<int32_t>("pow", {2, 2}, {3, -1}, whole, &out));
  EXPECT_TRUE(runs<int32_t>("pow", {2, -3}, {30, 3}, whole, &out));
  EXPECT_THAT(out, ElementsAre(1 << 30, -27));
  EXPECT_FALSE(runs<float>("floor_div", {1, 1}, {1, -0.0f}, real, &reals));
  EXPECT_TRUE(runs<float>("floor_mod", {1, 1}, {1, 0}, real, &reals));
  EXPECT_TRUE(runs<float>("div", {1, 1}, {1, 0}, real, &reals));
}

TEST(Elementwise, RefusesConstantsOfZeroAsDivisors) {
  graph::TensorType whole{DType::kI32, {2}, {}};
  for (int32_t divisor : {0, 5}) {
    for (const char* name : {"div", "floor_div", "floor_mod"}) {
      OneOp op(name, {whole, whole}, whole);
      std::vector<uint8_t> bytes(8, 1);
      std::memcpy(bytes.data() + 4, &divisor, 4);
      op.graph[op.graph.ops[0].operands[1]].constant = graph::own_bytes(std::move(bytes));
      EXPECT_EQ(op.refusal().empty(), divisor != 0) << name;
      if (divisor != 0) {
        Lowered lowered = op.definition().lower(op.view(), {});
        EXPECT_FALSE(tir::can_fail(lowered.function->body)) << name;
      }
    }
  }
}

TEST(Elementwise, RefusesPerChannelAxisOutsideTheShape) {
  graph::TensorType odd{DType::kI8, {4, 3}, {{1.0f, 2.0f}, {0, 0}, 1}};
  EXPECT_THAT(OneOp("dequantize", {odd}, f32({4, 3})).refusal(), HasSubstr("[op-quantization]"));
  odd.quantization.axis = 7;
  EXPECT_THAT(OneOp("quantize", {f32({4, 3})}, odd).refusal(), HasSubstr("[op-quantization]"));
}

TEST(Elementwise, EmptyTensorsLowerToNothing) {
  EXPECT_EQ(OneOp("add", {f32({0, 3}), f32({3})}, f32({0, 3})).refusal(), "");
  for (const char* name : {"dequantize", "logistic"}) {
    OneOp op(name, {i8({2, 0}, 1.0f, 0)}, std::string_view(name) == "dequantize" ? f32({2, 0}) : i8({2, 0}, 1.0f, 0));
    ASSERT_EQ(op.refusal(), "") << name;
    Diagnostics diags;
    Lowered lowered = op.definition().lower(op.view(), {});
    EXPECT_TRUE(tir::verify(*lowered.function, diags)) << diags.str();
  }
}

TEST(Broadcasting, HugeDimensionsInferWithoutAllocating) {
  int64_t large = int64_t{1} << 40;
  OneOp op("add", {f32({large, 1}), f32({1, large})}, f32({1}));
  Diagnostics diags;
  auto shapes = op.definition().infer(op.view(), diags);
  ASSERT_TRUE(shapes);
  EXPECT_THAT(*shapes, ElementsAre(Shape{large, large}));
}

TEST(Broadcasting, RefusesShapesThatDoNotFit) {
  EXPECT_THAT(OneOp("mul", {f32({2, 3}), f32({2, 4})}, f32({2, 4})).refusal(), HasSubstr("[op-shape]"));
  EXPECT_THAT(OneOp("mul", {f32({0}), f32({2})}, f32({2})).refusal(), HasSubstr("[op-shape]"));
}

std::vector<int64_t> loop_sizes(const Shape& result, const std::vector<Shape>& operands) {
  std::vector<int64_t> out;
  Broadcast nest(result, operands);
  for (const Broadcast::Loop& loop : nest.loops()) out.push_back(loop.size);
  return out;
}

TEST(Broadcasting, MakesTheSmallestNest) {
  EXPECT_THAT(loop_sizes({2, 3, 4}, {{2, 3, 4}, {2, 3, 4}}), ElementsAre(24));
  EXPECT_THAT(loop_sizes({2, 3, 4}, {{2, 3, 4}, {1}}), ElementsAre(24));
  EXPECT_THAT(loop_sizes({2, 3, 4}, {{2, 3, 4}, {}}), ElementsAre(24));
  EXPECT_THAT(loop_sizes({2, 3, 4}, {{2, 3, 4}, {4}}), ElementsAre(6, 4));
  EXPECT_THAT(loop_sizes({2, 3, 4}, {{2, 1, 4}, {2, 3, 4}}), ElementsAre(2, 3, 4));
  EXPECT_THAT(loop_sizes({2, 3, 4}, {{2, 1, 1}, {2, 3, 4}}), ElementsAre(2, 12));
  EXPECT_THAT(loop_sizes({1, 1}, {{1, 1}, {}}), ElementsAre());
}

TEST(Broadcasting, WalksOperandsLikeNestedLoops) {
  Broadcast nest({2, 3, 2}, {{2, 1, 2}, {3, 1}});
  std::vector<int64_t> a, b;
  nest.for_each([&](size_t at, const std::vector<int64_t>& index) {
    EXPECT_EQ(at, a.size());
    a.push_back(index[0]);
    b.push_back(index[1]);
  });
  EXPECT_THAT(a, ElementsAre(0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3));
  EXPECT_THAT(b, ElementsAre(0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2));
}

TEST(Broadcasting, LoadsABroadcastOperandOutsideTheInnerLoop) {
  OneOp op("add", {f32({5, 7}), f32({5, 1})}, f32({5, 7}));
  std::string text = tir::print(*op.definition().lower(op.view(), {}).function);
  size_t inner = text.rfind("for ");
  ASSERT_NE(inner, std::string::npos) << text;
  EXPECT_EQ(text.find("in1[", inner), std::string::npos) << text;
  EXPECT_NE(text.find("in0[", inner), std::string::npos) << text;
}

TEST(Elementwise, EqualShapesShareAFunctionWhateverTheirScales) {
  for (const char* name : {"add", "sub", "mul"}) {
    OneOp one(name, {i8({8}, 0.0231f, 3), i8({8}, 0.0172f, -7)}, i8({8}, 0.0211f, 5));
    OneOp other(name, {i8({8}, 0.0119f, -90), i8({8}, 0.0277f, 11)}, i8({8}, 0.0237f, -21));
    Lowered a = one.definition().lower(one.view(), {});
    Lowered b = other.definition().lower(other.view(), {});
    EXPECT_TRUE(tir::structurally_equal(*a.function, *b.function))
        << tir::print(*a.function) << tir::print(*b.function);
    EXPECT_NE(a.constants[0].bytes, b.constants[0].bytes);
  }
}

TEST(ByteFunctions, NeedNoTableToAddAndClamp) {
  OneOp op("relu", {i8({4}, 0.5f, 3)}, i8({4}, 0.5f, 3));
  EXPECT_TRUE(op.definition().lower(op.view(), {}).constants.empty());
  OneOp shifted("relu6", {i8({4}, 0.5f, 3)}, i8({4}, 0.5f, -128));
  EXPECT_TRUE(shifted.definition().lower(shifted.view(), {}).constants.empty());
  OneOp scaled("relu", {i8({4}, 0.5f, 3)}, i8({4}, 0.25f, 3));
  EXPECT_EQ(scaled.definition().lower(scaled.view(), {}).constants.size(), 1u);
}

// What `wanted` holds for a sum of stored values, rounded half away from zero.
std::vector<int8_t> rounded_sum(const std::array<double, 2>& slope, double constant) {
  std::vector<int8_t> out;
  for (int a = -128; a < 128; ++a)
    for (int b = -128; b < 128; ++b) {
      double v = std::round(slope[0] * a + slope[1] * b + constant);
      out.push_back(static_cast<int8_t>(std::clamp(v, -128.0, 127.0)));
    }
  return out;
}

TEST(AffineForm, IsFoundAndExactForOrdinaryScales) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(-1.5, 1.5);
  for (int round = 0; round < 20; ++round) {
    std::array<double, 2> slope = {uniform(random), uniform(random)};
    double constant = 60 * uniform(random);
    std::vector<int8_t> wanted = rounded_sum(slope, constant);
    auto form = fit_affine(wanted, slope, constant, {-128, 127});
    ASSERT_TRUE(form) << slope[0] << " " << slope[1];
    size_t at = 0;
    for (int64_t a = -128; a < 128; ++a)
      for (int64_t b = -128; b < 128; ++b, ++at) {
        int64_t sum = a * form->weight[0] + form->offset + b * form->weight[1];
        int64_t v = std::clamp<int64_t>(sum >> form->shift, -128, 127);
        ASSERT_EQ(v, wanted[at]) << a << " " << b;
      }
    // The sum fits 32 bits at its corners.
    int64_t swing = 128 * (std::abs(int64_t{form->weight[0]}) + std::abs(int64_t{form->weight[1]}));
    EXPECT_LT(swing + std::abs(int64_t{form->offset}), int64_t{1} << 31);
    EXPECT_EQ(form->least, (form->offset - swing) >> form->shift);
    EXPECT_EQ(form->most, (form->offset + swing) >> form->shift);
  }
}

TEST(AffineForm, IsRefusedWhereNoOffsetServesEveryPair) {
  std::vector<int8_t> wanted = rounded_sum({0.4, 0.3}, 0.0);
  wanted[128 * 256 + 128] = 50;
  EXPECT_FALSE(fit_affine(wanted, {0.4, 0.3}, 0.0, {-128, 127}));
  EXPECT_FALSE(fit_affine(wanted, {1e30, 0.3}, 0.0, {-128, 127}));
}

}  // namespace
}  // namespace aotc::ops
