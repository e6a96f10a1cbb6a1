// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "testing.h"

namespace aotc::tir {
namespace {

using testing::memory_of;
using testing::parsed;
using testing::run;

// Runs a body over `out y: i32[4]`.
std::string run_body(const std::string& body) {
  std::vector<int32_t> y(4);
  return run(parsed("out y: i32[4]", body), {memory_of(y)});
}

std::string trap(const std::string& what, const std::string& where) {
  return "function f: error: " + what + " [tir-trap]\n  note: in '" + where + "'\n";
}

TEST(Interpreter, TrapsOutOfRange) {
  EXPECT_EQ(run_body("y[4] = 1"), trap("index 4 is outside of 'y' with 4 elements", "y[4] = 1"));
  EXPECT_EQ(run_body("let i: i32 = -1 y[0] = y[i]"), trap("index -1 is outside of 'y' with 4 elements", "y[0] = y[i]"));
  EXPECT_EQ(run_body("for i in 0 .. 9 {\n for j in 0 .. 2 {\n y[i + j] = 0\n}\n}"),
            trap("index 4 is outside of 'y' with 4 elements", "y[i + j] = 0") + "  note: where i = 3, j = 1\n");
  EXPECT_EQ(run_body("eval memset(&y[1], 0, 13)"),
            trap("13 bytes at index 1 are outside of 'y' with 4 elements", "eval memset(&y[1], 0, 13)"));
  EXPECT_EQ(run_body("eval memset(&y[1], 0, -1)"),
            trap("-1 bytes at index 0 are outside of 'y' with 4 elements", "eval memset(&y[1], 0, -1)"));
}

TEST(Interpreter, TrapsOnOverflow) {
  const std::string max = "let m: i32 = 2147483647\n";
  EXPECT_EQ(run_body(max + "y[0] = m + 1"), trap("2147483647 + 1 overflows i32", "y[0] = m + 1"));
  EXPECT_EQ(run_body(max + "y[0] = -2 - m"), trap("-2 - 2147483647 overflows i32", "y[0] = -2 - m"));
  EXPECT_EQ(run_body(max + "y[0] = m * 2"), trap("2147483647 * 2 overflows i32", "y[0] = m * 2"));
  EXPECT_EQ(run_body(max + "y[0] = 1 + m * 2"), trap("2147483647 * 2 overflows i32", "y[0] = 1 + m * 2"));
  EXPECT_EQ(run_body(max + "y[0] = 1 + m * 1"), trap("2147483647 + 1 overflows i32", "y[0] = 1 + m * 1"));
  EXPECT_EQ(run_body(max + "y[0] = m << 1"), trap("2147483647 << 1 overflows i32", "y[0] = m << 1"));
  EXPECT_EQ(run_body(max + "y[0] = -(-m - 1)"), trap("-(-2147483648) overflows i32", "y[0] = -(-m - 1)"));
  EXPECT_EQ(run_body(max + "y[0] = abs(-m - 1)"), trap("abs(-2147483648) overflows", "y[0] = abs(-m - 1)"));
  EXPECT_EQ(run_body(max + "y[0] = (-m - 1) / -1"), trap("-2147483648 / -1 overflows i32", "y[0] = (-m - 1) / -1"));
  EXPECT_EQ(run_body("let m: i64 = 9223372036854775807i64 let n: i64 = m + 1i64"),
            trap("9223372036854775807 + 1 overflows i64", "let n: i64 = m + 1i64"));
  EXPECT_EQ(run_body("let m: u32 = 0u32 let n: u32 = m - 1u32"), trap("0 - 1 overflows u32", "let n: u32 = m - 1u32"));
  EXPECT_EQ(run_body("for i in 2147483640 .. 2147483647 step 5 { y[0] = 1 }"),
            trap("the loop variable overflows i32 after 2147483645", "for i in 2147483640 .. 2147483647 step 5 {") +
                "  note: where i = 2147483645\n");
}

TEST(Interpreter, TrapsOnDivisionAndShift) {
  EXPECT_EQ(run_body("let z: i32 = 0 y[0] = 7 / z"), trap("7 / 0 divides by zero", "y[0] = 7 / z"));
  EXPECT_EQ(run_body("let z: i32 = 0 y[0] = 7 % z"), trap("7 % 0 divides by zero", "y[0] = 7 % z"));
  EXPECT_EQ(run_body("let z: i32 = 32 y[0] = 7 >> z"), trap("shift by 32 is outside of [0, 32)", "y[0] = 7 >> z"));
  EXPECT_EQ(run_body("let z: i32 = -1 y[0] = 7 <<% z"), trap("shift by -1 is outside of [0, 32)", "y[0] = 7 <<% z"));
}

TEST(Interpreter, TrapsOnValuesThatDoNotFit) {
  std::vector<int8_t> y(1);
  auto store = [&](const std::string& body) { return run(parsed("out y: i8[1]", body), {memory_of(y)}); };
  EXPECT_EQ(store("let v: i32 = 128 y[0] = v"), trap("value 128 does not fit i8", "y[0] = v"));
  EXPECT_EQ(store("let v: i32 = 128 y[0] = i8(v)"), trap("value 128 does not fit i8", "y[0] = i8(v)"));
  EXPECT_EQ(store("let v: i32 = 128 y[0] = i8%(v)"), "");
  EXPECT_EQ(y[0], -128);
  EXPECT_EQ(run_body("let f: f32 = 2147483648f32 y[0] = i32(f)"),
            trap("value 2147483648 does not fit i32", "y[0] = i32(f)"));
  EXPECT_EQ(run_body("let f: f64 = f64.nan y[0] = i32(f)"), trap("value nan does not fit i32", "y[0] = i32(f)"));
  EXPECT_EQ(run_body("let f: i64 = 2147483648i64 y[0] = i32(f)"),
            trap("value 2147483648 does not fit i32", "y[0] = i32(f)"));
  std::vector<uint8_t> b(1);
  EXPECT_EQ(run(parsed("out b: bool[1]", "b[0] = 2"), {memory_of(b)}), trap("value 2 does not fit bool", "b[0] = 2"));
}

TEST(Interpreter, TrapsOnUndefinedElements) {
  EXPECT_EQ(run_body("alloc t: i32[4] t[1] = 5 y[0] = t[1] y[1] = t[2]"),
            trap("element 2 of 't' is read before it is written", "y[1] = t[2]"));
  // A new turn of a loop makes a new array.
  EXPECT_EQ(run_body("for i in 0 .. 2 { alloc t: i32[1] if i == 0 { t[0] = 1 } y[i] = t[0] }"),
            trap("element 0 of 't' is read before it is written", "y[i] = t[0]") + "  note: where i = 1\n");
  std::vector<int32_t> s(2, 7);
  std::vector<int32_t> y(1);
  EXPECT_EQ(run(parsed("scratch s: i32[2], out y: i32[1]", "y[0] = s[1]"), {memory_of(s), memory_of(y)}),
            trap("element 1 of 's' is read before it is written", "y[0] = s[1]"));
  EXPECT_EQ(run_body("alloc t: i32[4] eval memset(&t[0], 1, 8) eval memcpy(&y[0], &t[0], 12)"),
            trap("element 2 of 't' is read before it is written", "eval memcpy(&y[0], &t[0], 12)"));
}

TEST(Interpreter, TrapsOnOverlapAndMisuse) {
  EXPECT_EQ(run_body("eval memcpy(&y[1], &y[0], 8)"),
            trap("memcpy copies between ranges that overlap", "eval memcpy(&y[1], &y[0], 8)"));
  EXPECT_EQ(run_body("eval memcpy(&y[2], &y[0], 8)"), "");
  std::vector<int32_t> x(1);
  EXPECT_EQ(run(parsed("in x: i32[1]", "x[0] = 1"), {memory_of(x)}),
            "function f: error: 'x' is read only [tir-trap]\n");
  EXPECT_EQ(run(parsed("in x: i32[2]", ""), {memory_of(x)}),
            "function f: error: parameter 'x' has 4 bytes, expected 8 [tir-trap]\n");
  EXPECT_EQ(run(parsed("in x: i32[2]", ""), {}),
            "function f: error: the call passes 0 parameters, expected 1 [tir-trap]\n");
  EXPECT_EQ(run(parsed("", "alloc t: i64[2000000000]"), {}),
            "function f: error: local buffers need more than 268435456 bytes [tir-trap]\n");
}

TEST(Interpreter, FailsWhereTheFunctionSaysSo) {
  FunctionPtr f = parsed("in x: i32[2], out y: i32[2]", "for i in 0 .. 2 { if x[i] == 0 { fail } y[i] = 6 / x[i] }");
  EXPECT_EQ(testing::verified(f), "");
  EXPECT_TRUE(can_fail(f->body));
  EXPECT_FALSE(can_fail(parsed("out y: i32[2]", "y[0] = 1")->body));
  std::vector<int32_t> x = {2, 3}, y = {9, 9};
  EXPECT_EQ(run(f, {memory_of(x), memory_of(y)}), "");
  x[1] = 0;
  std::string said = run(f, {memory_of(x), memory_of(y)});
  EXPECT_NE(said.find("not defined for this data"), std::string::npos) << said;
  EXPECT_NE(said.find("i = 1"), std::string::npos) << said;
}

TEST(Interpreter, ChoosesOneSideOfSelect) {
  std::vector<int32_t> y{1, 2, 3, 4};
  FunctionPtr f = parsed("out y: i32[4]", "for i in 0 .. 4 { y[i] = select(i < 3, y[min(i + 1, 3)], y[i - 3]) }");
  EXPECT_EQ(run(f, {memory_of(y)}), "");
  EXPECT_EQ(y, (std::vector<int32_t>{2, 3, 4, 2}));
}

TEST(Interpreter, FloatsFollowTheDeclaredRules) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> x{nan, 1.0f, 0.1f, 16777216.0f, -0.0f, 2.5f};
  std::vector<float> y(8);
  FunctionPtr f = parsed("in x: f32[6], out y: f32[8]",
                         "y[0] = min(x[0], x[1])\n"  // a < b ? a : b
                         "y[1] = min(x[1], x[0])\n"
                         "y[2] = x[3] + x[1] * x[1]\n"
                         "y[3] = x[2] * x[2] + x[2]\n"
                         "y[4] = max(x[4], 0f32)\n"
                         "y[5] = round_to_even(x[5])\n"
                         "y[6] = round(x[5])\n"
                         "y[7] = float_from_bits(float_bits(x[2]) + 1)\n");
  EXPECT_EQ(run(f, {memory_of(x), memory_of(y)}), "");
  EXPECT_EQ(y[0], 1.0f);
  EXPECT_TRUE(std::isnan(y[1]));
  EXPECT_EQ(y[2], 16777216.0f);
  volatile float square = 0.1f * 0.1f;
  EXPECT_EQ(y[3], square + 0.1f);
  EXPECT_FALSE(std::signbit(y[4]));
  EXPECT_EQ(y[5], 2.0f);
  EXPECT_EQ(y[6], 3.0f);
  EXPECT_EQ(y[7], std::nextafter(0.1f, 1.0f));
}

TEST(Interpreter, EveryElementTypeLoadsAndStores) {
  for (const char* type : {"bool", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "f32", "f64"}) {
    int size = size_of(*dtype_from_name(type));
    std::string t = type;
    FunctionPtr f = parsed("in x: " + t + "[2], scratch s: " + t + "[2], out y: " + t + "[2]",
                           "for i in 0 .. 2 { s[i] = x[1 - i] y[i] = s[i] }");
    std::vector<uint8_t> x(static_cast<size_t>(2 * size));
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint8_t>(size == 1 ? i : i * 17 + 3);
    std::vector<uint8_t> s(x.size());
    std::vector<uint8_t> y(x.size());
    EXPECT_EQ(run(f, {memory_of(x), memory_of(s), memory_of(y)}), "") << type;
    EXPECT_EQ(std::memcmp(y.data(), x.data() + size, static_cast<size_t>(size)), 0) << type;
    EXPECT_EQ(std::memcmp(y.data() + size, x.data(), static_cast<size_t>(size)), 0) << type;
  }
}

TEST(Interpreter, TellsTheObserver) {
  struct Log final : AccessObserver {
    std::string text;
    void add(char c, int param, int64_t offset, int64_t bytes) {
      text += c + std::to_string(param) + ":" + std::to_string(offset) + "+" + std::to_string(bytes) + " ";
    }
    void on_read(int p, int64_t o, int64_t b) override { add('r', p, o, b); }
    void on_write(int p, int64_t o, int64_t b) override { add('w', p, o, b); }
  } log;
  std::vector<int16_t> x{1, 2, 3};
  std::vector<int16_t> y(3);
  FunctionPtr f = parsed("in x: i16[3], out y: i16[3]",
                         "alloc t: i16[1] t[0] = x[2] y[1] = t[0] + 1\n"
                         "eval memcpy(&y[0], &x[1], 2) eval memset(&y[2], 0, 2)");
  EXPECT_EQ(run(f, {memory_of(x), memory_of(y)}, &log), "");
  EXPECT_EQ(log.text, "r0:4+2 w1:2+2 r0:2+2 w1:0+2 w1:4+2 ");
  EXPECT_EQ(y, (std::vector<int16_t>{2, 4, 0}));
  EXPECT_EQ(run(parsed("out y: i16[3]", "y[0] = 40000"), {memory_of(y)}, &log),
            trap("value 40000 does not fit i16", "y[0] = 40000"));
}

}  // namespace
}  // namespace aotc::tir
