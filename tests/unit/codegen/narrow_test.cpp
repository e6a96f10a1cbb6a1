// SPDX-License-Identifier: Apache-2.0
// What is printed for CPUs whose int has 16 bits: in int where it fits, widened before it does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codegen/c_function.h"

namespace aotc::codegen {
namespace {

using ::testing::HasSubstr;

std::string printed(const std::string& body, bool narrow = true) {
  Diagnostics diags;
  auto f = tir::parse(
      "func f(in x: i8[40000], in h: i16[9], in u: u16[9], in v: i32[9], "
      "const w: i8[300] program, out y: i32[9]) {\n" +
          body + "\n}\n",
      "narrow", diags);
  EXPECT_TRUE(f) << diags.str();
  return f ? print_c(**f, "f", "p", CallingConvention::kPlain, {}, narrow).text : "";
}

TEST(NarrowInt, ProductsOfBytesAreInt) {
  std::string body = "let a: i32 = x[0]\nlet b: i32 = w[1]\nvar acc: i32 = 0\nacc = acc + a * b\ny[0] = acc";
  std::string text = printed(body);
  EXPECT_THAT(text, HasSubstr("const int8_t a = x[0];"));
  EXPECT_THAT(text, HasSubstr("const int8_t b = p_program_i8(&w[1]);"));
  EXPECT_THAT(text, HasSubstr("int32_t acc = 0;"));
  EXPECT_THAT(text, HasSubstr("acc += p_product(a, b);"));
  text = printed(body, false);
  EXPECT_THAT(text, HasSubstr("const int32_t a = x[0];"));
  EXPECT_THAT(text, HasSubstr("const int32_t b = p_program_i8(&w[1]);"));
}

TEST(NarrowInt, WhatLeavesIntIsWidenedFirst) {
  EXPECT_THAT(printed("y[0] = h[0] * x[0]"), HasSubstr("y[0] = (int32_t)h[0] * x[0];"));
  EXPECT_THAT(printed("y[0] = x[0] * x[1] + x[2] * x[3]"),
              HasSubstr("y[0] = (int32_t)p_product(x[0], x[1]) + p_product(x[2], x[3]);"));
  EXPECT_THAT(printed("y[0] = -h[0]"), HasSubstr("y[0] = -(int32_t)h[0];"));
  EXPECT_THAT(printed("y[0] = h[0] - 1"), HasSubstr("y[0] = (int32_t)h[0] - 1;"));
  EXPECT_THAT(printed("y[0] = h[0] / x[0]"), HasSubstr("y[0] = (int32_t)h[0] / x[0];"));
  EXPECT_THAT(printed("y[0] = x[0] << 4"), HasSubstr("y[0] = (int32_t)x[0] << 4;"));
  EXPECT_THAT(printed("y[0] = h[0] >> v[0]"), HasSubstr("y[0] = (int32_t)h[0] >> v[0];"));
  EXPECT_THAT(printed("y[0] = h[0] >> 3"), HasSubstr("y[0] = h[0] >> 3;"));
  EXPECT_THAT(printed("y[0] = (x[0] < 3) << 20", false), HasSubstr("y[0] = (int32_t)((int32_t)x[0] < 3) << 20;"));
}

TEST(NarrowInt, UnsignedShortsAreNotUnsignedInts) {
  EXPECT_THAT(printed("y[0] = u[0] - 5"), HasSubstr("y[0] = (int32_t)u[0] - 5;"));
  EXPECT_THAT(printed("let a: i32 = u[0]\ny[0] = a"), HasSubstr("const int32_t a = u[0];"));
}

TEST(NarrowInt, LoopsCountInIntWhereTheirEndFits) {
  EXPECT_THAT(printed("for i in 0 .. 300 step 4 {\n y[0] = w[i]\n}"),
              HasSubstr("for (int16_t i = 0; i < 300; i += 4)"));
  EXPECT_THAT(printed("for i in 0 .. 32767 {\n y[0] = x[i]\n}"), HasSubstr("for (int16_t i = 0"));
  EXPECT_THAT(printed("for i in 0 .. 32766 step 4 {\n y[0] = x[i]\n}"), HasSubstr("for (int32_t i = 0"));
  EXPECT_THAT(printed("for i in 0 .. v[0] {\n y[0] = x[1]\n}"), HasSubstr("for (int32_t i = 0"));
  // Indices beyond what int holds are computed in 32 bits.
  EXPECT_THAT(printed("for i in 0 .. 200 {\n y[0] = x[i * 200 + 7]\n}"), HasSubstr("x[(int32_t)i * 200 + 7]"));
}

TEST(NarrowInt, VariablesThatChangeOrAreUnknownStayWide) {
  std::string text = printed(
      "var a: i32 = x[0]\na = v[0]\nlet b: i32 = a * 2\nlet c: i32 = max(min(v[1], 9), -9)\n"
      "y[0] = b + c");
  EXPECT_THAT(text, HasSubstr("int32_t a = x[0];"));
  EXPECT_THAT(text, HasSubstr("const int32_t b = a * 2;"));
  EXPECT_THAT(text, HasSubstr("const int16_t c = "));
}

}  // namespace
}  // namespace aotc::codegen
