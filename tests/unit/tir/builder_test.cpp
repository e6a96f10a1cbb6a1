// SPDX-License-Identifier: Apache-2.0
#include "tir/builder.h"

#include <gtest/gtest.h>

#include "testing.h"

namespace aotc::tir {
namespace {

// The expression as text, with x and y as variables.
class Folding : public ::testing::Test {
 protected:
  std::string text(const Ex& e) {
    Function f{"f", {}, nullptr};
    std::vector<StmtPtr> body{
        std::make_shared<Declare>(x_, Ex(1).ptr(), false),
        std::make_shared<Declare>(y_, Ex(2).ptr(), false),
        std::make_shared<Evaluate>(e.ptr()),
    };
    f.body = std::make_shared<Block>(body);
    std::string all = print(f);
    size_t from = all.find("eval ") + 5;
    return all.substr(from, all.find('\n', from) - from);
  }
  VarPtr x_ = std::make_shared<Variable>(Variable{"x", DType::kI32});
  VarPtr y_ = std::make_shared<Variable>(Variable{"y", DType::kI32});
  Ex x = var_ref(x_);
  Ex y = var_ref(y_);
};

TEST_F(Folding, Immediates) {
  EXPECT_EQ(text(Ex(7) + 5), "12");
  EXPECT_EQ(text(Ex(7) / -2), "-3");
  EXPECT_EQ(text(Ex(-7) % 4), "-3");
  EXPECT_EQ(text(Ex(-7) >> 1), "-4");
  EXPECT_EQ(text(Ex(3) << 4), "48");
  EXPECT_EQ(text(Ex(3) < 4), "1");
  EXPECT_EQ(text(i64(3) == i64(4)), "0");
  EXPECT_EQ(text(min(Ex(3), -4)), "-4");
  EXPECT_EQ(text(f32(0.5f) + f32(0.25f)), "0.75f32");
  EXPECT_EQ(text(f32(16777216.0f) + f32(1.0f)), "16777216f32");
  EXPECT_EQ(text(add_wrapping(Ex(INT32_MAX), 1)), "-2147483648");
  EXPECT_EQ(text(cast(DType::kF32, Ex(16777217))), "16777216f32");
  EXPECT_EQ(text(cast(DType::kI32, f32(-2.75f))), "-2");
  EXPECT_EQ(text(cast_wrapping(DType::kI8, Ex(200))), "i8(-56)");
  EXPECT_EQ(text(-Ex(5)), "-5");
}

TEST_F(Folding, Identities) {
  EXPECT_EQ(text(x + 0), "x");
  EXPECT_EQ(text(0 + x), "x");
  EXPECT_EQ(text(x * 1), "x");
  EXPECT_EQ(text(x * 0), "0");
  EXPECT_EQ(text(x - 3), "x - 3");
  EXPECT_EQ(text(x + -3), "x - 3");
  EXPECT_EQ(text((x + 5) + 7), "x + 12");
  EXPECT_EQ(text((x + 5) - 5), "x");
  EXPECT_EQ(text((x - 5) + 2), "x - 3");
  EXPECT_EQ(text((x * 5) * 7), "x * 35");
  EXPECT_EQ(text(3 * x), "x * 3");
  EXPECT_EQ(text(x / 1), "x");
  EXPECT_EQ(text(x % 1), "0");
  EXPECT_EQ(text(x << 0), "x");
  EXPECT_EQ(text((x < y) && 1), "x < y");
  EXPECT_EQ(text(x && 1), "x != 0");
  EXPECT_EQ(text(x || 1), "1");
  EXPECT_EQ(text(select(Ex(1), x, y)), "x");
  EXPECT_EQ(text(cast(DType::kI32, x)), "x");
  EXPECT_EQ(text(cast_wrapping(DType::kU32, x) < cast_wrapping(DType::kU32, Ex(0))), "0");
}

TEST_F(Folding, LeavesWhatItMustNotTouch) {
  EXPECT_EQ(text((x * 65536) * 65536), "x * 65536 * 65536");
  EXPECT_EQ(text((x + INT32_MAX) + 1), "x + 2147483647 + 1");
  EXPECT_EQ(text(add_wrapping(x, 0)), "x +% 0");
  EXPECT_EQ(text(x / 2), "x / 2");
  EXPECT_EQ(text(cast_wrapping(DType::kI8, x)), "i8%(x)");
}

#ifndef NDEBUG
TEST_F(Folding, AssertsOnBugs) {
  EXPECT_DEATH(Ex(INT32_MAX) + 1, "overflows");
  EXPECT_DEATH(Ex(1) / 0, "divides by zero");
  EXPECT_DEATH(x + i64(1), "mixed types");
}
#endif

TEST(FunctionBuilder, LoopsThatRunOnceOrNeverAreGone) {
  FunctionBuilder f("f");
  BufferPtr out = f.output("out", DType::kI32, 100);
  f.loop("i", 3, 4, [&](Ex i) { f.store(out, i, i * 2); });
  f.loop("i", 3, 3, [&](Ex i) { f.store(out, i, 1); });
  f.loop("i", 0, 8, [&](Ex i) { f.store(out, i, 7); }, 8);
  f.loop("i", 0, 4, [&](Ex i) { f.loop("j", i * 2, i * 2 + 1, [&](Ex j) { f.store(out, j, j + 1); }); });
  f.loop("i", 0, 4, [&](Ex) {});
  f.if_(Ex(0), [&] { f.store(out, 0, 0); }, [&] { f.store(out, 1, 1); });
  EXPECT_EQ(print(*f.finish()),
            "func f(out out: i32[100] align 4) {\n"
            "  out[3] = 6\n"
            "  out[0] = 7\n"
            "  for i in 0 .. 4 {\n"
            "    let j: i32 = i * 2\n"
            "    out[j] = j + 1\n"
            "  }\n"
            "  out[1] = 1\n"
            "}\n");
}

TEST(FunctionBuilder, LetCopiesMutableVariables) {
  FunctionBuilder f("f");
  BufferPtr y = f.output("y", DType::kI32, 2);
  Ex acc = f.var("acc", 1);
  Ex before = f.let("before", acc);
  f.assign(acc, acc + 1);
  f.store(y, 0, before);
  f.store(y, 1, f.let("again", before));
  FunctionPtr made = f.finish();
  std::vector<int32_t> out(2);
  EXPECT_EQ(testing::run(made, {testing::memory_of(out)}), "");
  EXPECT_EQ(out, (std::vector<int32_t>{1, 1}));
  EXPECT_EQ(testing::verified(made), "");
}

TEST(FunctionBuilder, CopyAndFill) {
  FunctionBuilder f("f");
  BufferPtr x = f.input("x", DType::kI16, 6);
  BufferPtr y = f.output("y", DType::kI16, 8);
  f.fill_bytes(y, 0, -1, 8);
  f.copy(y, 2, x, 1, 4);
  FunctionPtr made = f.finish();
  EXPECT_EQ(testing::verified(made), "");
  std::vector<int16_t> in{1, 2, 3, 4, 5, 6};
  std::vector<int16_t> out(8);
  EXPECT_EQ(testing::run(made, {testing::memory_of(in), testing::memory_of(out)}), "");
  EXPECT_EQ(out, (std::vector<int16_t>{-1, -1, 2, 3, 4, 5, -1, -1}));
}

}  // namespace
}  // namespace aotc::tir
