// SPDX-License-Identifier: Apache-2.0
// SVDF: int8 states, which LiteRT does not have, and what its checks refuse.
#include "ops/svdf/svdf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "graph/graph.h"
#include "support/numerics.h"

namespace aotc::ops {
namespace {

using testing::HasSubstr;

struct SvdfText {
  std::string input = "i8[1x2] quant(0.5, 1)";
  std::string features = "i8[2x2] quant(0.5, 0) = [100, -100, 3, 4]";
  std::string time = "i8[2x4] quant(0.0078125, 0) = [1, -2, 3, -4, 50, 60, 70, -80]";
  std::string bias = "i32[2] quant(0.001953125, 0) = [7, -900]";
  std::string state = "i8[1x8] quant(0.25, 0)";
  std::string out = "i8[1x2] quant(0.125, -3)";
  std::string operands = "%0, %1, %2, %3, %4";
  std::string options = "rank = 1, activation = relu";
};

std::string text_of(const SvdfText& t) {
  return "graph \"g\" {\ninput %0 \"x\" " + t.input + "\nconst %1 \"f\" " + t.features + "\nconst %2 \"t\" " + t.time +
         "\nconst %3 \"b\" " + t.bias + "\ninput %4 \"s\" " + t.state + "\n%5 \"y\" " + t.out + ", %6 \"s2\" " +
         t.state + " = svdf(" + t.operands + ") {" + t.options + "}\noutput %5\noutput %6\n}\n";
}

std::string svdf_said(const SvdfText& t) {
  Diagnostics diags;
  auto graph = graph::parse(text_of(t), "test", definition_lookup(), diags);
  if (graph) (void)verify_graph(*graph, diags);
  return diags.str();
}

// TFLite Micro's arithmetic, step by step, with the state [filter][time] as it has it.
void compare_bytes(int zero, int& cut, int& wrapped) {
  Diagnostics diags;
  SvdfText text;
  text.state = "i8[1x8] quant(0.25, " + std::to_string(zero) + ")";
  auto graph = graph::parse(text_of(text), "test", definition_lookup(), diags);
  ASSERT_TRUE(graph && verify_graph(*graph, diags)) << diags.str();
  const int8_t features[2][2] = {{100, -100}, {3, 4}}, time[2][4] = {{1, -2, 3, -4}, {50, 60, 70, -80}};
  const int32_t bias[2] = {7, -900};
  int8_t kept[2][4];
  std::memset(kept, zero, sizeof kept);
  std::vector<uint8_t> state(8, static_cast<uint8_t>(zero));
  for (int run = 0; run < 40; ++run) {
    const auto a = static_cast<int8_t>(run * 37 - 90), b = static_cast<int8_t>(50 - run * 29);
    auto values = evaluate_graph(*graph, {{static_cast<uint8_t>(a), static_cast<uint8_t>(b)}, state});
    state = values[6];
    for (int f = 0; f < 2; ++f) {
      std::memmove(kept[f], kept[f] + 1, 3);
      const int64_t dot = features[f][0] * (a - 1) + features[f][1] * (b - 1);
      const auto feature = static_cast<int>(std::clamp<int64_t>(dot, -128, 127));  // 0.5 * 0.5 / 0.25 is 1
      kept[f][3] = static_cast<int8_t>(feature + zero);
      cut += dot != feature;
      wrapped += kept[f][3] != feature + zero;
      int64_t sum = bias[f];
      for (int m = 0; m < 4; ++m) sum += (kept[f][m] - zero) * time[f][m];
      const double real = 0.25 * 0.0078125 / 0.125;  // 1 / 64
      const int32_t q = multiply_by_quantized_multiplier(static_cast<int32_t>(sum), quantize_multiplier(real)) - 3;
      EXPECT_EQ(static_cast<int8_t>(values[5][static_cast<size_t>(f)]), std::clamp(q, -128, 127)) << run << " " << f;
    }
  }
}

TEST(Svdf, BytesOfStateAreCutOffAndMoveOn) {
  int cut = 0, wrapped = 0;
  compare_bytes(0, cut, wrapped);
  EXPECT_GT(cut, 20);
  EXPECT_LT(cut, 80);
  EXPECT_EQ(wrapped, 0);
  for (int zero : {-50, 25, 37}) compare_bytes(zero, cut, wrapped);
  EXPECT_GT(wrapped, 20);
}

TEST(Svdf, LanesOfAState) {
  Diagnostics diags;
  auto graph = graph::parse(text_of({}), "test", definition_lookup(), diags);
  ASSERT_TRUE(graph) << diags.str();
  SvdfShape s({*graph, graph->ops[0]});
  EXPECT_EQ(s.lanes, 4);
  s.memory = 8;
  s.lanes = 2;
  std::vector<int64_t> places;
  for (int64_t m = 0; m < 8; ++m) places.push_back(s.place(m));
  EXPECT_EQ(places, (std::vector<int64_t>{0, 2, 4, 6, 1, 3, 5, 7}));
}

TEST(Svdf, RightOnes) {
  EXPECT_EQ(svdf_said({}), "");
  EXPECT_EQ(svdf_said({.operands = "%0, %1, %2, _, %4"}), "");
  EXPECT_EQ(
      svdf_said({.bias = "i32[1] quant(0.001, 0) = [7]", .out = "i8[1x1] quant(0.125, -3)", .options = "rank = 2"}),
      "");
}

TEST(Svdf, Shapes) {
  EXPECT_THAT(svdf_said({.options = "rank = 3"}), HasSubstr("rank is 3, which does not divide the 2 filters"));
  EXPECT_THAT(svdf_said({.options = "rank = 0"}), HasSubstr("rank is 0"));
  EXPECT_THAT(svdf_said({.state = "i8[1x6] quant(0.25, 0)"}), HasSubstr("operand 4 is 1x6, not 1x8"));
  EXPECT_THAT(svdf_said({.features = "i8[2x3] quant(0.5, 0) = [1, 2, 3, 4, 5, 6]"}),
              HasSubstr("operand 1 is 2x3, not 2x2"));
  EXPECT_THAT(svdf_said({.operands = "%0, %1, %2, %3"}),
              HasSubstr("svdf takes 5 operands, the model gives 4 [op-operands]"));
}

TEST(Svdf, WeightsOfBytesUnderFloats) {
  const SvdfText right{.input = "f32[1x2]", .bias = "f32[2] = [7, -900]", .state = "f32[1x8]", .out = "f32[1x2]"};
  EXPECT_EQ(svdf_said(right), "");
  SvdfText text = right;
  text.options = "rank = 1, activation = relu6, asymmetric_rows = true";
  EXPECT_EQ(svdf_said(text), "");
  text = right;
  text.features = "i8[2x2] quant(0.5, 3) = [100, -100, 3, 4]";
  EXPECT_THAT(svdf_said(text), HasSubstr("operand 1 has zero point 3; weights have 0"));
  text = right;
  text.time = "i8[2x4] quant(axis 0, [0.5, 0.25]) = [1, -2, 3, -4, 50, 60, 70, -80]";
  EXPECT_THAT(svdf_said(text), HasSubstr("op-quantization"));
  text.time = "f32[2x4] = [1, -2, 3, -4, 50, 60, 70, -80]";
  EXPECT_THAT(svdf_said(text), HasSubstr("op-type"));
  text = right;
  text.operands = "%0, %1, %2, %2, %4";
  EXPECT_NE(svdf_said(text), "");
}

TEST(Svdf, TypesAndScales) {
  EXPECT_NE(svdf_said({.state = "i16[1x8] quant(0.25, 0)"}), "");  // weights over time of another type
  EXPECT_EQ(svdf_said({.state = "i8[1x8] quant(0.25, 4)"}), "");
  EXPECT_THAT(svdf_said({.time = "i16[2x4] quant(0.0078125, 0) = [1, -2, 3, -4, 50, 60, 70, -80]",
                         .state = "i16[1x8] quant(0.25, 4)"}),
              HasSubstr("operand 4 has zero point 4; weights and int16 states have 0"));
  EXPECT_THAT(svdf_said({.options = "activation = relu6"}), HasSubstr("no activation but relu"));
  EXPECT_THAT(svdf_said({.input = "f32[1x2]", .out = "f32[1x2]"}), HasSubstr("op-type"));
  EXPECT_NE(svdf_said({.state = "i8[1x8] quant(1e-12, 0)"}), "");  // a multiplier that leaves 32 bits
}

}  // namespace
}  // namespace aotc::ops
