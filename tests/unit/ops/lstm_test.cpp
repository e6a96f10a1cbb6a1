// SPDX-License-Identifier: Apache-2.0
// LSTM: its fixed point functions beside the real ones, and what its checks refuse.
#include "ops/recurrent/lstm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "graph/graph.h"
#include "ops/recurrent/fixed_point.h"

namespace aotc::ops {
namespace {

using ::testing::HasSubstr;

constexpr auto kLet = [](const char*, int32_t v) { return v; };

TEST(FixedPoint, SigmoidRisesAndIsNearTheRealOne) {
  int32_t before = -1;
  for (int32_t a = -32768; a <= 32767; ++a) {
    int32_t y = fixed_point::sigmoid(a, 3, kLet);
    double real = 32768 / (1 + std::exp(-a / 4096.0));
    ASSERT_NEAR(y, real, 12) << a;
    ASSERT_GE(y, before - 12) << a;
    before = y;
  }
  EXPECT_EQ(fixed_point::sigmoid(0, 3, kLet), 1 << 14);
}

TEST(FixedPoint, TanhIsOddAndNearTheRealOne) {
  for (int bits : {0, 1, 3, 4, 6})
    for (int32_t a = -32767; a <= 32767; a += 7) {
      int32_t y = fixed_point::tanh(a, bits, kLet);
      ASSERT_NEAR(y, 32768 * std::tanh(std::ldexp(a, bits - 15)), 24) << a << " with " << bits;
      ASSERT_EQ(y, -fixed_point::tanh(-a, bits, kLet)) << a << " with " << bits;
    }
}

TEST(Lstm, ScalesThatArePowersOfTwo) {
  int exponent = 0;
  EXPECT_TRUE(exponent_of_scale(1.0f / 2048, exponent));
  EXPECT_EQ(exponent, -11);
  EXPECT_TRUE(exponent_of_scale(1.0f, exponent));
  EXPECT_EQ(exponent, 0);
  EXPECT_FALSE(exponent_of_scale(0.0005f, exponent));
  EXPECT_FALSE(exponent_of_scale(0.0f, exponent));
  EXPECT_FALSE(exponent_of_scale(-0.5f, exponent));
}

struct Text {
  std::string weights = "const %1 \"w\" i8[2x3] quant(0.004, 0) = [9, -7, 5, -3, 1, 127]\n";
  std::string bias = "const %9 \"b\" i32[2] quant(0.00012, 0) = [5, -9]\n";
  std::string cell = "input %19 \"c\" i16[1x2] quant(0.00048828125, 0)\n";
  std::string hidden = "hidden_scale = 0.0078125";
  std::string operands = "%0, %1, %1, %1, %1, %5, %5, %5, %5, _, _, _, %9, %9, %9, %9, _, _, %13, %19, _, _, _, _";
  std::string out = "quant(0.0078125, 0)";
};

// What is said of a graph of one layer, from graph text.
std::string said(const Text& t) {
  std::string cell_type = t.cell.substr(t.cell.find("i16"));
  std::string text =
      "graph \"g\" {\ninput %0 \"x\" i8[1x4x3] quant(0.03, 0)\n"
      "input %13 \"h\" i8[1x2] quant(0.0078125, 0)\n" +
      t.cell + t.weights + "const %5 \"r\" i8[2x2] quant(0.004, 0) = [1, -2, 3, -4]\n" + t.bias +
      "%20 \"y\" i8[1x4x2] " + t.out + ", %21 \"h2\" i8[1x2] quant(0.0078125, 0), %22 \"c2\" " +
      cell_type.substr(0, cell_type.size() - 1) + " = unidirectional_sequence_lstm(" + t.operands + ") {" + t.hidden +
      "}\noutput %20\noutput %21\noutput %22\n}\n";
  Diagnostics diags;
  auto graph = graph::parse(text, "test", definition_lookup(), diags);
  if (graph) (void)verify_graph(*graph, diags);
  return diags.str();
}

TEST(Lstm, RightOne) { EXPECT_EQ(said({}), ""); }

TEST(Lstm, GatesThatAreCoupledLeaveOutAllOfTheInputGate) {
  EXPECT_EQ(said({.operands = "%0, _, %1, %1, %1, _, %5, %5, %5, _, _, _, _, %9, %9, %9, _, _, %13, %19, _, _, _, _"}),
            "");
  EXPECT_THAT(
      said({.operands = "%0, _, %1, %1, %1, %5, %5, %5, %5, _, _, _, _, %9, %9, %9, _, _, %13, %19, _, _, _, _"}),
      HasSubstr("those of the input gate may be left out together"));
  EXPECT_THAT(
      said({.operands = "%0, %1, %1, %1, _, %5, %5, %5, %5, _, _, _, %9, %9, %9, %9, _, _, %13, %19, _, _, _, _"}),
      HasSubstr("weights, recurrent weights and biases of every gate must be there"));
}

TEST(Lstm, Shapes) {
  EXPECT_THAT(said({.weights = "const %1 \"w\" i8[3x2] quant(0.004, 0) = [9, -7, 5, -3, 1, 127]\n"}),
              HasSubstr("operand 1 is 3x2, not 2x3"));
}

TEST(Lstm, Scales) {
  EXPECT_THAT(said({.cell = "input %19 \"c\" i16[1x2] quant(0.0005, 0)\n"}),
              HasSubstr("the scale is a power of two from 2^-15 to 2^-9"));
  EXPECT_THAT(said({.cell = "input %19 \"c\" i16[1x2] quant(0.00390625, 0)\n"}),
              HasSubstr("the scale is a power of two from 2^-15 to 2^-9"));
  EXPECT_THAT(said({.hidden = "hidden_scale = 0"}), HasSubstr("the hidden output has scale 0 and zero point 0"));
  EXPECT_THAT(said({.weights = "const %1 \"w\" i8[2x3] quant(0.004, 3) = [9, -7, 5, -3, 1, 127]\n"}),
              HasSubstr("operand 1 has zero point 3; weights have 0"));
  // LiteRT's int8 kernel copies the output state into the output and reads no scale of it.
  EXPECT_EQ(said({.out = "quant(0.01, 0)"}), "");
}

TEST(Lstm, SumsThatLeave32Bits) {
  EXPECT_NE(said({.bias = "const %9 \"b\" i32[2] quant(0.00012, 0) = [2147483647, -9]\n"}), "");
}

// A layer of two cells with a projection to three outputs, and what `operands` has behind the recurrent weights.
std::string projected(const std::string& behind, const std::string& attributes) {
  const std::string consts =
      "const %1 \"w\" i8[2x3] quant(0.004, 0) = [9, -7, 5, -3, 1, 127]\n"
      "const %2 \"p\" i16[2] quant(0.00003, 0) = [900, -7]\nconst %3 \"b\" i32[2] quant(0.00012, 0) = [5, -9]\n"
      "const %4 \"pw\" i8[3x2] quant(0.004, 0) = [9, -7, 5, -3, 1, 127]\n";
  const std::string text =
      "graph \"g\" {\ninput %0 \"x\" i8[1x4x3] quant(0.03, 0)\ninput %13 \"h\" i8[1x3] quant(0.0078125, 0)\n"
      "input %19 \"c\" i16[1x2] quant(0.00048828125, 0)\n" +
      consts +
      "%20 \"y\" i8[1x4x3] quant(0.0078125, 0), %21 \"h2\" i8[1x3] quant(0.0078125, 0), "
      "%22 \"c2\" i16[1x2] quant(0.00048828125, 0) = unidirectional_sequence_lstm(%0, %1, %1, %1, %1, %1, %1, %1, "
      "%1, " +
      behind + ") {hidden_scale = 0.0078125" + attributes + "}\noutput %20\noutput %21\noutput %22\n}\n";
  Diagnostics diags;
  auto graph = graph::parse(text, "test", definition_lookup(), diags);
  if (graph) (void)verify_graph(*graph, diags);
  return diags.str();
}

TEST(Lstm, ProjectionPeepholesAndNormalisationOfInt8) {
  EXPECT_EQ(projected("_, _, _, %3, %3, %3, %3, %4, _, %13, %19, _, _, _, _", ""), "");
  EXPECT_THAT(projected("%2, %2, %2, %3, %3, %3, %3, %4, _, %13, %19, _, _, _, _", ""),
              HasSubstr("peepholes of 2 cells and a projection to 3 outputs"));
  EXPECT_THAT(projected("_, _, _, %3, %3, %3, %3, %4, _, %13, %19, %2, %2, %2, %2", ", input_gate_scale = 0.1"),
              HasSubstr("gate 1 has scale 0 before it is normalised"));
  EXPECT_THAT(projected("_, _, _, %3, %3, %3, %3, %4, _, %13, %19, %3, %3, %3, %3", ""), HasSubstr("supported: i16"));
}

TEST(Lstm, ClipIsNotNegative) {
  EXPECT_THAT(said({.hidden = "hidden_scale = 0.0078125, cell_clip = -1"}),
              HasSubstr("cell_clip of unidirectional_sequence_lstm must be a finite number of at least 0"));
}

}  // namespace
}  // namespace aotc::ops
