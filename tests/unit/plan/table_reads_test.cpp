// SPDX-License-Identifier: Apache-2.0
// How often tables are read, counted by hand in small functions: trip counts from immediates and
// from tables, conditions, and every operator that a trip count may be computed with.
#include <cmath>

#include <gtest/gtest.h>

#include "../tir/testing.h"
#include "plan/constant_reads.h"

namespace aotc::plan {
namespace {

using tir::testing::parsed;

// The arithmetic that trip counts are computed with, seen by what a loop of so many turns reads.
constexpr int64_t kNumbers[] = {7, 3, -5, 0};

ops::Constant numbers(DType type) {
  ops::Constant table{"numbers", type, {}, 4};
  for (int64_t v : kNumbers)
    for (int byte = 0; byte < size_of(type); ++byte)
      table.bytes.push_back(static_cast<uint8_t>(static_cast<uint64_t>(v) >> (8 * byte)));
  return table;
}

// One call of a function; `const` parameters are the tables w (64 bytes) and s, the others lie in
// the arena.
Program program_of(const std::string& text, DType type_of_s = DType::kI32) {
  Program p;
  tir::FunctionPtr f = parsed(text);
  p.constants.push_back({"w", -1, {"w", DType::kI8, std::vector<uint8_t>(64, 1), 4}, 0});
  p.constants.push_back({"s", -1, numbers(type_of_s), 0});
  p.functions.push_back({f, {0}, false, 0, std::nullopt});
  ProgramCall call;
  call.function = 0;
  for (const tir::BufferPtr& b : f->params) {
    CallArgument a;
    if (b->name == "w" || b->name == "s") a.storage = {StorageKind::kConstant, b->name == "w" ? 0 : 1, 0, -1};
    else a.storage = {StorageKind::kArena, 0, 0, 0};
    call.arguments.push_back(a);
  }
  p.calls.push_back(call);
  return p;
}

const std::string kHead = "func f(in x: i32[64], const w: i8[64], const s: i32[4], out y: i32[64]) {\n";

// Bytes read of w and of s.
std::pair<double, double> reads(const std::string& body) {
  auto counted = constant_reads(program_of(kHead + body + "\n}\n"));
  return {counted[0], counted[1]};
}
double reads_of_w(const std::string& body) { return reads(body).first; }

TEST(TableReads, AccessesCountTheirBytes) {
  for (auto [type, bytes] : {std::pair{"i8", 1.0}, {"u16", 2.0}, {"f32", 4.0}, {"i64", 8.0}}) {
    std::string text = std::string("func f(const w: ") + type + "[8], out y: " + type +
                       "[8]) {\n  y[0] = w[3]\n  for i in 0 .. 5 {\n    y[i] = w[i]\n  }\n}\n";
    EXPECT_EQ(constant_reads(program_of(text))[0], 6 * bytes) << type;
  }
}

TEST(TableReads, EveryStatementIsRead) {
  EXPECT_EQ(reads_of_w("let a: i32 = w[0]"), 1);
  EXPECT_EQ(reads_of_w("var a: i32 = w[0]\na = w[1]"), 2);
  EXPECT_EQ(reads_of_w("y[w[0]] = w[1] + w[2]"), 3);
  EXPECT_EQ(reads_of_w("eval w[0] * w[1]"), 2);
  EXPECT_EQ(reads_of_w("if w[0] > 0 {\n}"), 1);
  EXPECT_EQ(reads_of_w("for i in w[0] .. w[1] {\n}"), 2);
  EXPECT_EQ(reads_of_w("{\n{\nlet a: i32 = -w[0]\n}\n}"), 1);
  EXPECT_EQ(reads_of_w("eval i64(w[x[w[0]]])"), 2);
  EXPECT_EQ(reads_of_w("eval memset(&y[0], 0, 4)"), 0);
  EXPECT_EQ(reads_of_w("eval keep(w[0])"), 1);
}

TEST(TableReads, LoopsMultiply) {
  EXPECT_EQ(reads_of_w("for i in 0 .. 20 {\neval w[i]\n}"), 20);
  EXPECT_EQ(reads_of_w("for i in 3 .. 23 step 3 {\neval w[i]\n}"), 7);
  EXPECT_EQ(reads_of_w("for i in 5 .. 5 {\neval w[i]\n}"), 0);
  EXPECT_EQ(reads_of_w("for i in 30 .. 5 {\neval w[i]\n}"), 0);
  EXPECT_EQ(reads_of_w("for i in 0 .. 20 {\nfor j in 0 .. 30 {\neval w[i]\n}\n}"), 600);
  // Nothing is known of the number of turns.
  EXPECT_EQ(reads_of_w("for i in 0 .. x[0] {\neval w[i]\n}"), 1);
  EXPECT_EQ(reads_of_w("for i in x[0] .. 9 {\neval w[i]\n}"), 1);
  EXPECT_EQ(reads_of_w("var n: i32 = 5\nfor i in 0 .. n {\neval w[i]\n}"), 1);
  EXPECT_EQ(reads_of_w("let n: i32 = 5\nfor i in 0 .. n {\neval w[i]\n}"), 5);
}

TEST(TableReads, ShortOuterLoopsAreRunAndLongOnesTakeTheMean) {
  const std::string triangle = "for j in 0 .. i {\neval w[j]\n}\n}";
  EXPECT_EQ(reads_of_w("for i in 0 .. 4 {\n" + triangle), 6);
  EXPECT_EQ(reads_of_w("for i in 1 .. 8 step 3 {\n" + triangle), 1 + 4 + 7);
  EXPECT_EQ(reads_of_w("for i in 0 .. 16 {\n" + triangle), 120);
  // The mean of 0 .. 16 is 8, of 10, 13 ... 91 it is 50.5.
  EXPECT_EQ(reads_of_w("for i in 0 .. 17 {\n" + triangle), 17 * 8);
  EXPECT_EQ(reads_of_w("for i in 10 .. 92 step 3 {\n" + triangle), 28 * 51);
  // Two loops are run turn by turn, the third takes its mean: there conditions are not decided.
  const std::string two = "for i in 0 .. 2 {\nfor j in 0 .. 3 {\n";
  EXPECT_EQ(reads_of_w(two + "if j < 1 {\neval w[0]\n}\n}\n}"), 2);
  EXPECT_EQ(reads_of_w(two + "for k in 0 .. 5 {\nif k < 1 {\neval w[0]\n}\n}\n}\n}"), 30);
  EXPECT_EQ(reads_of_w(two + "for k in 0 .. 1 {\nif k > 0 {\neval w[0]\n}\n}\n}\n}"), 0);
  EXPECT_EQ(reads_of_w(two + "for k in 0 .. 5 {\nfor l in 0 .. k {\neval w[0]\n}\n}\n}\n}"), 60);
  // Behind a loop its mean is over.
  EXPECT_EQ(reads_of_w("for i in 0 .. 20 {\neval w[i]\n}\nif 1 > 2 {\neval w[0]\n}"), 20);
}

TEST(TableReads, Conditions) {
  const std::string both = " {\neval w[0]\n} else {\neval w[1] + w[2] + w[3] + w[4]\n}";
  EXPECT_EQ(reads_of_w("if 1 < 2" + both), 1);
  EXPECT_EQ(reads_of_w("if 2 < 1" + both), 4);
  EXPECT_EQ(reads_of_w("if x[0] < 1" + both), 2.5);
  EXPECT_EQ(reads_of_w("if x[0] < 1 {\neval w[0]\n}"), 1);
  EXPECT_EQ(reads_of_w("if 2 < 1 {\neval w[0]\n}"), 0);
  EXPECT_EQ(reads_of_w("for i in 0 .. 20 {\nif i < 1" + both + "\n}"), 50);
  EXPECT_EQ(reads_of_w("eval select(w[0] > 0, w[1], w[2] + w[3])"), 2.5);
  EXPECT_EQ(reads_of_w("for i in 0 .. select(x[0] > 0, 8, 4) {\neval w[i]\n}"), 6);
  EXPECT_EQ(reads_of_w("for i in 0 .. select(x[0] > 0, 8, x[1]) {\neval w[i]\n}"), 1);
}

TEST(TableReads, CopiesReadWhatTheyCopy) {
  EXPECT_EQ(reads_of_w("eval memcpy(&y[0], &w[0], 12)"), 12);
  EXPECT_EQ(reads_of_w("for i in 0 .. 20 {\neval memcpy(&y[i], &w[i], s[0])\n}"), 140);
  EXPECT_EQ(reads("for i in 0 .. 20 {\neval memcpy(&y[i], &w[i], s[0])\n}").second, 80);
  EXPECT_EQ(reads_of_w("eval memcpy(&y[0], &w[0], x[0])"), 0);
  EXPECT_EQ(reads_of_w("eval memcpy(&y[0], &w[s[0]], 4)"), 4);
}

// Trip counts are computed from s = {7, 3, -5, 0}; all that is not known runs once.
TEST(TableReads, ArithmeticOfTripCounts) {
  const std::pair<const char*, double> cases[] = {
      {"s[0]", 7},
      {"s[1]", 3},
      {"s[2]", 0},
      {"-s[2]", 5},
      {"s[0] + s[1]", 10},
      {"s[0] - s[1]", 4},
      {"s[0] * s[1]", 21},
      {"s[0] / s[1]", 2},
      {"s[0] % s[1]", 1},
      {"s[0] / s[3]", 1},
      {"s[0] % s[3]", 1},
      {"7 - s[2] / 2", 9},
      {"min(s[0], s[1])", 3},
      {"max(s[0], s[1])", 7},
      {"s[0] << s[1]", 56},
      {"s[0] >> 1", 3},
      {"9 + (s[2] >> 1)", 6},
      {"s[0] & 3", 1},
      {"!(s[0] > 9)", 1},
      {"~s[0]", 1},
      {"keep(s[0])", 7},
      {"fence(s[0])", 7},
      {"i32(i64(s[0]))", 7},
      {"i32(abs(f32(s[0])))", 1},
      {"9 * (s[0] == 7)", 9},
      {"9 * (s[0] == s[1])", 0},
      {"9 * (s[0] != s[1])", 9},
      {"9 * (s[0] != 7)", 0},
      {"9 * (s[1] < s[0])", 9},
      {"9 * (s[0] < 7)", 0},
      {"9 * (s[0] <= 7)", 9},
      {"9 * (s[0] <= s[1])", 0},
      {"9 * (s[0] > s[1])", 9},
      {"9 * (s[0] > 7)", 0},
      {"9 * (s[0] >= 7)", 9},
      {"9 * (s[1] >= s[0])", 0},
      {"9 * (s[0] && s[1])", 9},
      {"9 * (s[0] && s[3])", 0},
      {"9 * (s[3] && s[0])", 0},
      {"9 * (s[0] || s[3])", 9},
      {"9 * (s[3] || s[0])", 9},
      {"9 * (s[3] || s[3])", 0},
      {"9 * (s[1] - 2 && 1)", 9},
      {"9 * (s[1] - 2 || s[3])", 9},
      {"9 * (s[3] || s[1] - 2)", 9},
      {"s[0] + x[0]", 1},
      {"x[0] + s[0]", 1},
      {"s[4]", 1},
      {"s[-1]", 1},
      {"s[x[0]]", 1},
  };
  for (auto [turns, wanted] : cases)
    EXPECT_EQ(reads_of_w(std::string("for i in 0 .. ") + turns + " {\neval w[i]\n}"), wanted) << turns;
}

TEST(TableReads, TablesOfEveryTypeKnowTheirSigns) {
  for (DType type :
       {DType::kI8, DType::kU8, DType::kI16, DType::kU16, DType::kI32, DType::kU32, DType::kI64, DType::kF32}) {
    std::string name(name_of(type));
    bool wide = type == DType::kU32 || type == DType::kI64 || type == DType::kF32;
    auto turns = [&](const std::string& element) {
      std::string value = wide ? "i32(" + element + ")" : element;
      std::string text =
          "func f(const w: i8[64], const s: " + name + "[4]) {\nfor i in 0 .. 60 + " + value + " {\neval w[0]\n}\n}\n";
      return constant_reads(program_of(text, type))[0];
    };
    const double modulus = is_float(type) ? 0 : std::exp2(8 * size_of(type));
    const bool is_unsigned = type == DType::kU8 || type == DType::kU16 || type == DType::kU32;
    EXPECT_EQ(turns("s[0]"), is_float(type) ? 1 : 67) << name;
    EXPECT_EQ(turns("s[1]"), is_float(type) ? 1 : 63) << name;
    EXPECT_EQ(turns("s[2]"), is_float(type) ? 1 : is_unsigned ? 55 + modulus : 55) << name;
  }
}

TEST(TableReads, KernelsReadThroughTheirParameters) {
  const std::string kernel =
      "kernel scale by=3 (in a: i8[0], in t: i32[0], out b: i32[0], scalar n) {\n"
      "  for i in 0 .. n {\n    b[i] = a[i] * t[0]\n  }\n}\n";
  auto run = [&](const std::string& body) {
    auto counted = constant_reads(program_of(kernel + kHead + body + "\n}\n"));
    return std::pair(counted[0], counted[1]);
  };
  EXPECT_EQ(run("run scale_3(&w[0], &s[0], &y[0], 6)"), std::pair(6.0, 24.0));
  EXPECT_EQ(run("for i in 0 .. 20 {\nrun scale_3(&w[i], &s[0], &y[0], 6)\n}"), std::pair(120.0, 480.0));
  EXPECT_EQ(run("run scale_3(&x[0], &s[0], &y[0], s[1])"), std::pair(0.0, 16.0));
  // What a parameter points to is known from where it begins.
  const std::string turns =
      "kernel turns by=1 (in a: i8[0], in t: i32[0], scalar n) {\n"
      "  for i in 0 .. t[n] {\n    eval a[i]\n  }\n}\n";
  auto inner = [&](const std::string& body) { return constant_reads(program_of(turns + kHead + body + "\n}\n"))[0]; };
  EXPECT_EQ(inner("run turns_1(&w[0], &s[0], 0)"), 7);
  EXPECT_EQ(inner("run turns_1(&w[0], &s[0], 1)"), 3);
  EXPECT_EQ(inner("run turns_1(&w[0], &s[1], 0)"), 3);
  EXPECT_EQ(inner("run turns_1(&w[0], &s[x[0]], 0)"), 1);
}

TEST(TableReads, CallsAddUpAndForeignFunctionsReadOnce) {
  Program p = program_of(kHead + "eval w[0] + s[0]\n}\n");
  p.calls.push_back(p.calls[0]);
  EXPECT_EQ(constant_reads(p), (std::vector<double>{2, 8}));
  p.functions[0].external = ops::ExternalFunction{"mine"};
  EXPECT_EQ(constant_reads(p), (std::vector<double>{128, 32}));
}

Program tables(const std::vector<std::pair<size_t, int>>& bytes_and_alignment) {
  Program p;
  for (auto [bytes, alignment] : bytes_and_alignment)
    p.constants.push_back({"t", -1, {"t", DType::kI16, std::vector<uint8_t>(bytes), alignment}, 0});
  return p;
}

TEST(SectionsOfTables, RoomIsTheLargestAlignmentOfAll) {
  // 16 bytes are reserved for each.
  Program p = tables({{2, 2}, {4, 16}, {0, 2}, {18, 4}});
  EXPECT_EQ(assign_sections(p, {{".fast", 16}, {".slow"}}), (std::vector<int>{0, 1, 1, 1}));
  EXPECT_EQ(assign_sections(p, {{".fast", 48}, {".slow"}}), (std::vector<int>{0, 0, 0, 1}));
  EXPECT_EQ(assign_sections(p, {{".fast", 47}, {".slow"}}), (std::vector<int>{0, 0, 1, 1}));
  EXPECT_EQ(assign_sections(p, {{".a", 16}, {".b", 64}}), (std::vector<int>{0, 1, 1, 1}));
  EXPECT_EQ(assign_sections(p, {{".a", 16}, {".b", 63}}), (std::vector<int>{0, 1, 1, -1}));
}

TEST(SectionsOfTables, WhatIsReadMostPerByteComesFirst) {
  Program p = program_of(kHead + "eval w[0] + s[0]\n}\n");
  // 1 of 64 bytes and 4 of 16.
  EXPECT_EQ(assign_sections(p, {{".fast", 64}, {".slow"}}), (std::vector<int>{1, 0}));
  p = program_of(kHead + "for i in 0 .. 20 {\neval w[i]\n}\neval s[0]\n}\n");
  EXPECT_EQ(assign_sections(p, {{".fast", 64}, {".slow"}}), (std::vector<int>{0, 1}));
}

}  // namespace
}  // namespace aotc::plan
