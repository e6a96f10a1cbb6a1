// SPDX-License-Identifier: Apache-2.0
// Functions that differ only in numbers: which ones they are, and that the function made of them does
// with each one's numbers what that one did.
#include "plan/merge.h"

#include <gtest/gtest.h>

#include <set>

#include "../tir/testing.h"

namespace aotc::plan {
namespace {

using tir::FunctionPtr;
using tir::testing::memory_of;
using tir::testing::parsed;
using tir::testing::run;
using tir::testing::verified;

// Every kind of statement and expression. The numbers that may differ are `n`: how many, `a` and
// `b`: where, `c`: what.
FunctionPtr function(int n, int a, int b, int c, int elements) {
  auto s = [](int v) { return std::to_string(v); };
  const std::string x = "[" + s(elements) + "]";
  return parsed(
      "kernel scale by=3 (in x: i32[0], out y: i32[0], scalar n) {\n"
      "  for i in 0 .. n {\n    y[i] = x[i] * 3\n  }\n}\n"
      "func f(in x: i32" +
      x + ", const w: i32[4] align 4, scratch t: i32[8], out y: i32" + x +
      ") {\n"
      "  alloc l: i32[2]\n"
      "  let k: i32 = select(x[0] > " +
      s(c) +
      ", w[1], -w[0])\n"
      "  var acc: i32 = 0\n"
      "  for i in 0 .. " +
      s(n) +
      " step 2 {\n"
      "    acc = acc + x[i] * k + (i + " +
      s(a) +
      ")\n"
      "    y[i + " +
      s(b) + "] = acc +% i32(i16%(x[i + " + s(a) +
      "]))\n"
      "    y[" +
      s(b) + " + 1 + i] = acc - " + s(c) +
      "\n"
      "  }\n"
      "  eval memcpy(&t[0], &x[" +
      s(a) +
      "], 8)\n"
      "  l[0] = t[0] + i32(f32(t[1]) * 0.5f32) + i32(i64(k) + 5i64)\n"
      "  if acc > " +
      s(c) +
      " {\n"
      "    y[0] = l[0] + keep(acc)\n"
      "  } else {\n"
      "    y[0] = min(l[0], acc) - " +
      s(n) +
      "\n"
      "  }\n"
      "  run scale_3(&x[" +
      s(a) +
      "], &y[1], 1)\n"
      "}\n");
}

// What is left in y.
std::vector<int32_t> result(const FunctionPtr& f, int elements, std::vector<int32_t>* shape = nullptr) {
  std::vector<int32_t> x, y(static_cast<size_t>(elements), 77), w = {3, -2, 5, 9}, t(8);
  for (int i = 0; i < elements; ++i) x.push_back(1000 * (i % 5) + 37 * i - 90);
  std::vector<tir::Memory> memory = {memory_of(x), memory_of(w), memory_of(t), memory_of(y)};
  if (shape != nullptr) memory.push_back(memory_of(*shape));
  EXPECT_EQ(run(f, memory), "");
  return y;
}

struct Numbers {
  int n, a, b, c, elements;
};
constexpr Numbers kRows[] = {{4, 0, 2, 5, 10}, {6, 1, 0, -40, 12}, {8, 3, 4, 200, 20}};

TEST(Merge, DoesWhatEachOneDid) {
  std::vector<FunctionPtr> functions;
  for (const Numbers& r : kRows) functions.push_back(function(r.n, r.a, r.b, r.c, r.elements));
  Merged merged = merge_functions(functions);
  ASSERT_EQ(verified(merged.function), "") << tir::print(*merged.function);
  ASSERT_EQ(merged.function->params.size(), 5u);
  EXPECT_EQ(merged.function->params[0]->elements, 20);
  EXPECT_EQ(merged.function->params[1]->elements, 4);
  ASSERT_EQ(merged.shapes.size(), 3u);
  for (size_t i = 0; i < functions.size(); ++i) {
    const Numbers& r = kRows[i];
    // n, a, b and c: what differs by a constant is there once.
    ASSERT_EQ(merged.shapes[i].size(), 4u);
    EXPECT_EQ(std::multiset<int32_t>(merged.shapes[i].begin(), merged.shapes[i].end()),
              (std::multiset<int32_t>{r.n, r.a, r.b, r.c}));
    FunctionPtr own = with_parameter_sizes(*merged.function, {r.elements, 4, 8, r.elements, 4});
    EXPECT_EQ(verified(own), "");
    EXPECT_EQ(result(own, r.elements, &merged.shapes[i]), result(functions[i], r.elements)) << i;
  }
  // Compilers expand copies whose size they know.
  EXPECT_NE(tir::print(*merged.function).find(", 8)"), std::string::npos);
}

TEST(Merge, ColumnsThatDifferByAConstantShareANumber) {
  auto f = [](int a, int b) {
    return parsed("func f(out y: i32[64]) {\n  y[" + std::to_string(a) + "] = " + std::to_string(b) +
                  "\n  y[1] = " + std::to_string(a + 3) + "\n  y[2] = " + std::to_string(a - 2) + "\n}\n");
  };
  Merged merged = merge_functions({f(4, 9), f(7, 9), f(5, 9)});
  EXPECT_EQ(merged.shapes, (std::vector<std::vector<int32_t>>{{4}, {7}, {5}}));
  const std::string text = tir::print(*merged.function);
  EXPECT_NE(text.find("y[n0] = 9"), std::string::npos) << text;
  EXPECT_NE(text.find("y[1] = n0 + 3"), std::string::npos) << text;
  EXPECT_NE(text.find("y[2] = n0 - 2"), std::string::npos) << text;
  // Two numbers, in the order in which they appear.
  merged = merge_functions({f(4, 9), f(7, 1)});
  EXPECT_EQ(merged.shapes, (std::vector<std::vector<int32_t>>{{4, 9}, {7, 1}}));
}

TEST(Merge, SumsKeepTheirConstantOutermost) {
  auto f = [](int a, const char* plus) {
    return parsed("func f(in x: i32[9], out y: i32[64]) {\n  y[" + std::to_string(a) + "] = x[1] " + plus + " " +
                  std::to_string(a + 3) + "\n  y[0] = x[0] - " + std::to_string(a + 3) + "\n  y[1] = x[0] + x[1]\n}\n");
  };
  std::string text = tir::print(*merge_functions({f(4, "+"), f(7, "+")}).function);
  EXPECT_NE(text.find("= x[1] + n0 + 3\n"), std::string::npos) << text;
  EXPECT_NE(text.find("= x[0] - (n0 + 3)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("= x[0] + x[1]\n"), std::string::npos) << text;
  text = tir::print(*merge_functions({f(4, "+%"), f(7, "+%")}).function);
  EXPECT_NE(text.find("= x[1] +% (n0 + 3)\n"), std::string::npos) << text;
}

// What stands behind an if without else is not its else.
TEST(Skeleton, AnElseIsNotWhatComesBehind) {
  FunctionPtr either =
      parsed("in x: i32[1], out y: i32[2]", "  if x[0] > 0 {\n    y[0] = 1\n  } else {\n    y[1] = 2\n  }\n");
  const auto& body = static_cast<const tir::Block&>(*either->body).body;
  ASSERT_EQ(body.size(), 1u);
  const auto& both = static_cast<const tir::If&>(*body[0]);
  auto behind = std::make_shared<tir::Function>(*either);
  behind->body = std::make_shared<tir::Block>(
      std::vector<tir::StmtPtr>{std::make_shared<tir::If>(both.condition, both.then, nullptr), both.otherwise});
  EXPECT_NE(skeleton_of(*either).text, skeleton_of(*behind).text);
}

bool mergeable(const std::string& params, const std::string& a, const std::string& b) {
  return skeleton_of(*parsed(params, a)).text == skeleton_of(*parsed(params, b)).text;
}

TEST(Skeleton, NumbersAreAllThatMayDiffer) {
  const std::string params = "in x: i32[8], in z: i32[8], out y: i32[8]";
  auto equal = [&](const std::string& a, const std::string& b) { return mergeable(params, a, b); };
  EXPECT_TRUE(equal("y[1] = x[2] + 3", "y[4] = x[5] + 6"));
  EXPECT_TRUE(equal("for i in 0 .. 4 { }", "for k in 1 .. 5 { }"));
  EXPECT_TRUE(equal("eval keep(1)", "eval keep(2)"));
  const std::pair<const char*, const char*> different[] = {
      {"y[0] = x[0] + 1", "y[0] = x[0] - 1"},
      {"y[0] = x[0] + 1", "y[0] = x[0] +% 1"},
      {"y[0] = x[0]", "y[0] = z[0]"},
      {"y[0] = -x[0]", "y[0] = ~x[0]"},
      {"eval i64(x[0])", "eval u32(x[0])"},
      {"eval i16(x[0])", "eval i16%(x[0])"},
      {"eval i64(x[0]) + 1i64", "eval i64(x[0]) + 2i64"},
      {"eval f32(x[0]) + 1f32", "eval f32(x[0]) + 2f32"},
      {"eval exp(f32(x[0]))", "eval log(f32(x[0]))"},
      {"eval keep(x[0])", "eval fence(x[0])"},
      {"eval memcpy(&y[0], &x[0], 4)", "eval memcpy(&y[0], &x[0], 8)"},
      {"eval memset(&y[0], 0, 4)", "eval memset(&y[0], 0, 8)"},
      {"for i in 0 .. 4 { }", "for i in 0 .. 4 step 2 { }"},
      {"let a: i32 = 1", "var a: i32 = 1"},
      {"let a: i32 = 1 let b: i32 = 2 y[0] = a", "let a: i32 = 1 let b: i32 = 2 y[0] = b"},
      {"alloc l: i32[2] l[0] = 1", "alloc l: i32[3] l[0] = 1"},
      {"if x[0] > 1 { y[0] = 1 }", "if x[0] > 1 { } else { y[0] = 1 }"},
      {"for i in 0 .. 4 { y[i] = 1 } y[0] = 2", "for i in 0 .. 4 { y[i] = 1 y[0] = 2 }"},
      {"eval select(x[0] > 0, x[0], x[1])", "eval select(x[0] > 0, x[0], z[1])"},
  };
  for (auto [a, b] : different) {
    EXPECT_FALSE(equal(a, b)) << a << " and " << b;
    EXPECT_TRUE(equal(a, a)) << a;
    EXPECT_TRUE(equal(b, b)) << b;
  }
  EXPECT_TRUE(equal("eval memset(&y[0], 0, 4)", "eval memset(&y[0], 1, 4)"));
  auto of = [](const std::string& p) { return skeleton_of(*parsed(p, "")).text; };
  EXPECT_EQ(of("in x: i32[8]"), of("in a: i32[9]"));
  for (const char* other :
       {"in x: i8[8]", "out x: i32[8]", "const x: i32[8]", "in x: i32[8] align 16", "in x: i32[8], in y: i32[8]"})
    EXPECT_NE(of("in x: i32[8]"), of(other)) << other;
}

TEST(Skeleton, ValuesAreInOrderOfAppearance) {
  EXPECT_EQ(skeleton_of(*parsed("in x: i32[8], out y: i32[8]",
                                "y[1] = x[2] + 3 eval memcpy(&y[4], &x[5], 8) eval 9i64 + i64(6)"))
                .values,
            (std::vector<int64_t>{1, 2, 3, 4, 5, 6}));
}

TEST(Parameters, GetOtherSizesAndMemories) {
  FunctionPtr f = parsed("in x: i32[8], const w: i32[4], out y: i32[8]",
                         "for i in 0 .. 4 { y[i] = x[i] + w[i] } eval memcpy(&y[4], &x[4], 16)");
  FunctionPtr small = with_parameter_sizes(*f, {9, 4, 10});
  EXPECT_EQ(small->name, f->name);
  EXPECT_EQ(verified(small), "");
  EXPECT_EQ(small->params[0]->elements, 9);
  EXPECT_EQ(small->params[2]->elements, 10);
  EXPECT_TRUE(tir::structurally_equal(*with_parameter_sizes(*small, {8, 4, 8}), *f));
  FunctionPtr far = with_parameter_spaces(*f, {tir::Space::kData, tir::Space::kProgram, tir::Space::kData});
  EXPECT_EQ(verified(far), "");
  ASSERT_EQ(far->params.size(), 3u);
  EXPECT_EQ(far->params[0]->space, tir::Space::kData);
  EXPECT_EQ(far->params[1]->space, tir::Space::kProgram);
  EXPECT_EQ(skeleton_of(*far).text.find("program") == std::string::npos, false);
  EXPECT_NE(skeleton_of(*far).text, skeleton_of(*f).text);
}

}  // namespace
}  // namespace aotc::plan
