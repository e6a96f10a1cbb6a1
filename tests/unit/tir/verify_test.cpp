// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "testing.h"

namespace aotc::tir {
namespace {

using testing::parsed;
using testing::verified;

std::string verified_body(const std::string& body) {
  return verified(parsed("in x: i8[10], out y: i32[10], in w: f32[4]", body));
}

std::string invalid(const std::string& what, const std::string& where) {
  return "function f: error: " + what + " [tir-invalid]\n  note: in '" + where + "'\n";
}

// ---------------------------------------------------------------- types and scopes

TEST(Verifier, RejectsWrongTypes) {
  EXPECT_EQ(verified_body("y[0] = w[0]"), invalid("the value stored is f32, not i32", "y[0] = w[0]"));
  EXPECT_EQ(verified_body("y[1i64] = 1"), invalid("an index is i64, not i32", "y[1i64] = 1"));
  EXPECT_EQ(verified_body("eval 1 + 1i64"), invalid("operands of '+' are i32 and i64", "eval 1 + 1i64"));
  EXPECT_EQ(verified_body("eval w[0] % w[1]"), invalid("'%' does not support f32", "eval w[0] % w[1]"));
  EXPECT_EQ(verified_body("eval w[0] && w[1]"), invalid("'&&' does not support f32", "eval w[0] && w[1]"));
  EXPECT_EQ(verified_body("eval w[0] +% w[1]"), invalid("'+' of f32 cannot wrap", "eval w[0] +% w[1]"));
  EXPECT_EQ(verified_body("eval !w[0]"), invalid("'!' does not support f32", "eval !w[0]"));
  EXPECT_EQ(verified_body("eval ~w[0]"), invalid("'~' does not support f32", "eval ~w[0]"));
  EXPECT_EQ(verified_body("eval exp(1)"), invalid("'exp' does not support i32", "eval exp(1)"));
  EXPECT_EQ(verified_body("eval float_bits(1)"), invalid("'float_bits' does not support i32", "eval float_bits(1)"));
  EXPECT_EQ(verified_body("eval pow(1f32, 1f64)"),
            invalid("arguments of 'pow' are f32 and f64", "eval pow(1f32, 1f64)"));
  EXPECT_EQ(verified_body("eval select(1, 2, 3i64)"),
            invalid("the two values of a select are i32 and i64", "eval select(1, 2, 3i64)"));
  EXPECT_EQ(verified_body("eval select(1f32, 2, 3)"),
            invalid("a condition is f32, not i32", "eval select(1f32, 2, 3)"));
  EXPECT_EQ(verified_body("if w[0] { }"), invalid("a condition is f32, not i32", "if w[0] {"));
  EXPECT_EQ(verified_body("for i in 0i64 .. 2 { }"),
            invalid("the begin of a loop is i64, not i32", "for i in 0i64 .. 2 {"));
  EXPECT_EQ(verified_body("let v: i64 = 1"), invalid("the value declared is i32, not i64", "let v: i64 = 1"));
  EXPECT_EQ(verified_body("var v: i64 = 1i64 v = 1"), invalid("the value assigned is i32, not i64", "v = 1"));
  EXPECT_EQ(verified_body("let v: i8 = i8(1)"),
            invalid("a cast to i8 must be in a store or in a cast to i32", "let v: i8 = i8(1)") +
                "function f: error: variable 'v' has type i8, which only buffers may have [tir-invalid]\n"
                "  note: in 'let v: i8 = i8(1)'\n");
  EXPECT_EQ(verified_body("y[0] = i8(1)"),
            invalid("a cast to i8 must be in a store or in a cast to i32", "y[0] = i8(1)"));
  EXPECT_EQ(verified_body("y[0] = i32(i8(x[0]))"), "");
  EXPECT_EQ(verified_body("eval i32%(1f32)"), invalid("a cast from f32 to i32 cannot wrap", "eval i32%(1f32)"));
  EXPECT_EQ(verified_body("eval 5i8"), invalid("integer immediate 5 must not have type i8", "eval 5i8"));
  EXPECT_EQ(verified_body("eval &x[0]"), invalid("an address is used as a value", "eval &x[0]"));
}

TEST(Verifier, RejectsWrongAssignmentsAndStores) {
  EXPECT_EQ(verified_body("let v: i32 = 1 v = 2"), invalid("let 'v' is assigned", "v = 2"));
  EXPECT_EQ(verified_body("for i in 0 .. 2 { i = 2 }"), invalid("loop variable 'i' is assigned", "i = 2"));
  EXPECT_EQ(verified_body("x[0] = 2"), invalid("'x' is read only", "x[0] = 2"));
  EXPECT_EQ(verified_body("eval memset(&x[0], 0, 1)"), invalid("'x' is read only", "eval memset(&x[0], 0, 1)"));
  EXPECT_EQ(verified_body("eval memset(0, 0, 1)"),
            invalid("argument 1 of 'memset' is not an address", "eval memset(0, 0, 1)"));
  EXPECT_EQ(verified_body("eval 1 + memset(&y[0], 0, 1)"),
            invalid("'memset' returns no value", "eval 1 + memset(&y[0], 0, 1)"));
  EXPECT_EQ(verified_body("eval memset(&y[0], 0, -4)"),
            invalid("'memset' has a negative size of -4 bytes", "eval memset(&y[0], 0, -4)"));
}

TEST(Verifier, RejectsDivisorsAndShifts) {
  EXPECT_EQ(verified_body("eval x[0] / 0"), invalid("division by zero", "eval x[0] / 0"));
  EXPECT_EQ(verified_body("eval x[0] % 0"), invalid("division by zero", "eval x[0] % 0"));
  EXPECT_EQ(verified_body("eval x[0] << 32"), invalid("shift by 32 is outside of [0, 32)", "eval x[0] << 32"));
  EXPECT_EQ(verified_body("eval i64(x[0]) >> 63i64"), "");
}

TEST(Verifier, RejectsLoopsWhoseEndMoves) {
  EXPECT_EQ(verified_body("var n: i32 = 3 for i in 0 .. n { n = 2 }"),
            invalid("the body of a loop changes the loop's end", "for i in 0 .. n {"));
  EXPECT_EQ(verified_body("for i in 0 .. y[0] { y[1] = 2 }"),
            invalid("the body of a loop changes the loop's end", "for i in 0 .. y[0] {"));
  EXPECT_EQ(verified_body("var n: i32 = 3 for i in n .. 9 { n = 2 }"), "");
}

TEST(Verifier, RejectsNodesThatAreOutOfScope) {
  auto v = std::make_shared<Variable>(Variable{"v", DType::kI32});
  auto use = std::make_shared<Evaluate>(std::make_shared<VarRef>(v));
  auto one = std::make_shared<IntImm>(DType::kI32, 1);
  StmtPtr declare = std::make_shared<Declare>(v, one, false);
  StmtPtr scope = std::make_shared<Block>(std::vector<StmtPtr>{declare});
  auto function = [](std::vector<StmtPtr> body, std::vector<BufferPtr> params = {}) {
    return std::make_shared<Function>(Function{"f", std::move(params), std::make_shared<Block>(std::move(body))});
  };
  EXPECT_EQ(verified(function({scope, use})), invalid("variable 'v' is not declared here", "eval ?v"));
  EXPECT_EQ(verified(function({declare, declare})), invalid("variable 'v' is declared twice", "let v: i32 = 1"));
  auto b = std::make_shared<Buffer>(Buffer{"b", DType::kI32, 4, Role::kLocal, 1});
  StmtPtr store = std::make_shared<Store>(b, one, one);
  EXPECT_EQ(verified(function({store})), invalid("buffer 'b' is not declared here", "?b[1] = 1"));
  EXPECT_EQ(verified(function({}, {b})), "function f: error: parameter 'b' is local [tir-invalid]\n");
  EXPECT_EQ(verified(function({std::make_shared<Evaluate>(nullptr)})),
            invalid("an expression is missing", "eval ?null"));
  auto wide = std::make_shared<IntImm>(DType::kI32, int64_t{1} << 40);
  EXPECT_EQ(verified(function({std::make_shared<Evaluate>(wide)})),
            invalid("immediate 1099511627776 does not fit i32", "eval 1099511627776"));
  auto inexact = std::make_shared<FloatImm>(DType::kF32, 0.1);
  EXPECT_EQ(verified(function({std::make_shared<Evaluate>(inexact)})),
            invalid("immediate 0.1 is not exact in f32", "eval 0.1f32"));
  auto odd = std::make_shared<Buffer>(Buffer{"b", DType::kI32, 4, Role::kInput, 3});
  EXPECT_EQ(verified(function({}, {odd})),
            "function f: error: buffer 'b' has alignment 3, expected a power of two [tir-invalid]\n");
  EXPECT_EQ(verified(std::make_shared<Function>()), "function : error: the body is not a block [tir-invalid]\n");
}

// ---------------------------------------------------------------- accesses

TEST(Verifier, AcceptsAccessesOfLoopsThatMayNotRun) {
  EXPECT_EQ(verified_body("let n: i32 = x[0] for i in 0 .. n { y[i + 20] = 0 }"), "");
  EXPECT_NE(verified_body("let n: i32 = x[0] for i in 0 .. 2 { y[i + 20] = n }"), "");
}

TEST(Verifier, RejectsAccessesOutOfRange) {
  EXPECT_EQ(verified_body("y[0] = x[10]"), invalid("index 10 is outside of 'x' with 10 elements", "y[0] = x[10]"));
  EXPECT_EQ(verified_body("for i in 0 .. 11 { y[0] = x[i] }"),
            invalid("index in [0, 10] is outside of 'x' with 10 elements", "y[0] = x[i]"));
  EXPECT_EQ(verified_body("for i in 0 .. 10 { y[0] = x[i - 1] }"),
            invalid("index in [-1, 8] is outside of 'x' with 10 elements", "y[0] = x[i - 1]"));
  EXPECT_EQ(verified_body("for i in 0 .. 3 { for j in 0 .. 4 { let k: i32 = i * 4 + j y[k] = 0 } }"),
            invalid("index in [0, 11] is outside of 'y' with 10 elements", "y[k] = 0"));
  EXPECT_EQ(verified_body("for i in 0 .. 12 step 4 { y[9 - i] = 0 }"), "");
  EXPECT_EQ(verified_body("for i in 0 .. 13 step 4 { y[9 - i] = 0 }"),
            invalid("index in [-3, 9] is outside of 'y' with 10 elements", "y[9 - i] = 0"));
  EXPECT_EQ(verified_body("eval memset(&y[1], 0, 40)"),
            invalid("index 1 for 10 elements is outside of 'y' with 10 elements", "eval memset(&y[1], 0, 40)"));
  // Not exact, but nothing of it is inside.
  EXPECT_EQ(verified_body("let v: i32 = x[0] y[v + 200] = 0"),
            invalid("index in [72, 327] is outside of 'y' with 10 elements", "y[v + 200] = 0"));
}

TEST(Verifier, ConditionsNarrow) {
  EXPECT_EQ(verified_body("for i in 0 .. 20 { if i < 10 { y[i] = 0 } }"), "");
  EXPECT_EQ(verified_body("for i in 0 .. 20 { if i < 11 { y[i] = 0 } }"),
            invalid("index in [0, 10] is outside of 'y' with 10 elements", "y[i] = 0"));
  EXPECT_EQ(verified_body("for i in 0 .. 20 { if i < 10 { } else { y[i - 10] = 0 } }"), "");
  EXPECT_EQ(verified_body("for i in 0 .. 20 { if !(i >= 10) { y[i] = 0 } }"), "");
  EXPECT_EQ(verified_body("for i in 0 .. 20 { if i < 2 || i > 11 { } else { y[i - 2] = 0 } }"), "");
  EXPECT_EQ(verified_body("for i in 0 .. 20 { if i < 1 || i > 11 { } else { y[i - 2] = 0 } }"),
            invalid("index in [-1, 9] is outside of 'y' with 10 elements", "y[i - 2] = 0"));
  EXPECT_EQ(verified_body("for i in 0 .. 20 { let k: i32 = i * 2 - 5 if k >= 0 && k < 10 { y[k] = 0 } }"), "");
  EXPECT_EQ(verified_body("for i in 0 .. 20 { let k: i32 = i * 2 - 5 if k >= -1 && k < 10 { y[k] = 0 } }"),
            invalid("index in [-1, 9] is outside of 'y' with 10 elements", "y[k] = 0"));
  EXPECT_EQ(verified_body("for i in 0 .. 20 { if i == 3 { y[i + 6] = 0 } }"), "");
  EXPECT_EQ(verified_body("for i in 0 .. 20 { y[select(i < 10, i, 9)] = 0 }"), "");
  EXPECT_EQ(verified_body("for i in 0 .. 20 { y[0] = select(i < 10, x[i], 0) }"), "");
  EXPECT_EQ(verified_body("for i in 0 .. 20 { y[0] = select(i < 11, x[i], 0) }"),
            invalid("index in [0, 10] is outside of 'x' with 10 elements", "y[0] = select(i < 11, x[i], 0)"));
  // Both bounds in one comparison. What it rules out is not reached; what it lets by is judged.
  EXPECT_EQ(verified_body("for i in 0 .. 4 { let k: i32 = i - 9 if u32%(k) < u32%(10) { y[k] = 0 } }"), "");
  EXPECT_EQ(verified_body("for i in 0 .. 4 { let k: i32 = i - 9 if u32%(k) < u32%(-1) { y[k] = 0 } }"),
            invalid("index in [-9, -6] is outside of 'y' with 10 elements", "y[k] = 0"));
  EXPECT_EQ(verified_body("for i in 0 .. 4 { let k: i32 = i + 12 if u32%(k) < u32%(14) { y[k] = 0 } }"),
            invalid("index in [12, 13] is outside of 'y' with 10 elements", "y[k] = 0"));
  // Code that is never reached accesses nothing.
  EXPECT_EQ(verified_body("for i in 0 .. 5 { if i > 7 { y[i + 9] = 0 } }"), "");
  EXPECT_EQ(verified_body("for i in 5 .. 5 { y[99] = 0 }"), "");
}

TEST(Verifier, LeavesWhatIsCorrelatedToTheInterpreter) {
  // j depends on i: the interval [0, 18] is not exact.
  EXPECT_EQ(verified_body("for i in 0 .. 10 { for j in i .. 10 { y[j - i] = 0 } }"), "");
  EXPECT_EQ(verified_body("for i in 0 .. 10 { for j in 0 .. 10 - i { y[i + j] = 0 } }"), "");
  EXPECT_EQ(verified_body("for i in 0 .. 5 { for j in 0 .. 10 { if i + j < 10 { y[i + j] = 0 } } }"), "");
  EXPECT_EQ(verified_body("for i in 0 .. 20 { if x[0] > i { y[i] = 0 } }"), "");
  EXPECT_EQ(verified_body("let v: i32 = x[0] y[v] = 0"), "");
  EXPECT_EQ(verified_body("let n: i32 = x[0] for k in 0 .. n { for i in 0 .. 20 { y[i] = 0 } }"), "");
}

TEST(Verifier, NestedSelectsTakeNoTime) {
  std::string condition = "x[0] < 1";
  for (int i = 0; i < 100; ++i) condition = "select(" + condition + ", 1, 2) < 3";
  EXPECT_EQ(verified_body("if " + condition + " { y[0] = 1 }"), "");
}

}  // namespace
}  // namespace aotc::tir
