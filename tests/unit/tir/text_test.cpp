// SPDX-License-Identifier: Apache-2.0
// The text form: round trips, exact errors, and bytes that are no text at all.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "testing.h"

namespace aotc::tir {
namespace {

using testing::parsed;

// Every node kind, operator, intrinsic and type, as print() writes them.
const char kEverything[] =
    "func everything(in x: i8[10] align 4, const w: f32[4] align 16, scratch s: i64[2], "
    "out y: i8[10], out z: f64[1] align 8, in b: bool[1], in c: u8[1], in d: i16[1], "
    "in e: u16[1], in f: i32[1], in g: u32[1]) {\n"
    "  # a comment: \\x0a \\x5c */ // é\n"
    "  #\n"
    "  alloc t: i32[4] align 4\n"
    "  let n: i32 = f[0]\n"
    "  var acc: i32 = -2147483648\n"
    "  for i in 0 .. n + 1 {\n"
    "    for j in n .. 10 step 3 {\n"
    "      acc = acc + x[i] * (x[j] - 3)\n"
    "    }\n"
    "    let i_2: i32 = i\n"
    "    y[i] = i8(min(max(acc, -128), 127))\n"
    "    y[i_2] = i8%(acc >> 3 <<% 2)\n"
    "  }\n"
    "  if n < 3 && n >= 1 || !(n == 2) {\n"
    "    t[0] = n +% 1 -% 2 *% 3\n"
    "  } else {\n"
    "    t[1] = (n + 1) % 5 / (2 - (3 - n)) - (1 - 2)\n"
    "  }\n"
    "  if (n & 1) != (n | 2 ^ n) {\n"
    "  }\n"
    "  {\n"
    "    let k: i64 = i64(n) * 5000000000i64 << 2i64\n"
    "    s[1] = ~k\n"
    "    let u: u32 = 4294967295u32 +% u32%(-n)\n"
    "    let v: i64 = -(-(5i64))\n"
    "    eval u > 3u32\n"
    "  }\n"
    "  let k: f32 = select(n <= 4, 1.5f32, -0f32) + 1e-30f32 / 0.1f32\n"
    "  let l: f64 = f64(k) * 0.1f64 - f64.inf - -f64.inf + f64.nan\n"
    "  z[0] = pow(exp(l), log(l)) + tanh(l) + sqrt(l) + floor(l) + ceil(l) + round(l)\n"
    "  z[0] = abs(l) + erf(l) + sin(l) + cos(l) + round_to_even(l)\n"
    "  z[0] = fmod(l, l) + erfc(l) + expm1(l) + atan2(l, l)\n"
    "  if n == 77 {\n"
    "    fail\n"
    "  }\n"
    "  let m: f32 = float_from_bits(float_bits(k) + 1) - -k\n"
    "  let o: i32 = i32(k) + b[0] + c[0] + d[0] + e[0] + i32(i16(n))\n"
    "  eval memcpy(&y[n], &x[0], 4)\n"
    "  eval memset(&t[0], 255, n * 4)\n"
    "}\n";

TEST(Text, RoundTripsEverything) {
  FunctionPtr f = parsed(kEverything);
  ASSERT_TRUE(f);
  EXPECT_EQ(print(*f), kEverything);
  FunctionPtr again = parsed(print(*f));
  EXPECT_TRUE(structurally_equal(*f, *again));
  EXPECT_EQ(structural_hash(*f), structural_hash(*again));
  EXPECT_EQ(testing::verified(f), "");
  EXPECT_EQ(count_nodes(*f), count_nodes(*again));
}

TEST(Text, NamesAreMadeLegalAndUnique) {
  auto buffer = std::make_shared<Buffer>(Buffer{"1 */ evil\n", DType::kI32, 4, Role::kOutput, 1});
  auto twin = std::make_shared<Buffer>(Buffer{"for", DType::kI32, 4, Role::kOutput, 1});
  auto i = std::make_shared<Variable>(Variable{"i", DType::kI32});
  auto also_i = std::make_shared<Variable>(Variable{"i", DType::kI32});
  auto zero = std::make_shared<IntImm>(DType::kI32, 0);
  auto four = std::make_shared<IntImm>(DType::kI32, 4);
  auto sum = std::make_shared<Binary>(BinaryOp::kAdd, DType::kI32, std::make_shared<VarRef>(i),
                                      std::make_shared<VarRef>(also_i), false);
  StmtPtr inner = std::make_shared<For>(also_i, zero, four, 1, std::make_shared<Store>(buffer, sum, zero));
  StmtPtr outer = std::make_shared<For>(i, zero, four, 1, inner);
  // The same nodes twice: the second loops use the names again.
  Function f{"", {buffer, twin}, std::make_shared<Block>(std::vector<StmtPtr>{outer, outer})};
  std::string loops =
      "  for i in 0 .. 4 {\n"
      "    for i_2 in 0 .. 4 {\n"
      "      _1____evil_[i + i_2] = 0\n"
      "    }\n"
      "  }\n";
  EXPECT_EQ(print(f), "func v(out _1____evil_: i32[4], out for_: i32[4]) {\n" + loops + loops + "}\n");
  FunctionPtr again = parsed(print(f));
  EXPECT_EQ(print(*again), print(f));
  EXPECT_TRUE(structurally_equal(f, *again));
}

TEST(Text, StructureIgnoresNamesAndCommentsOnly) {
  const std::string base = "for i in 0 .. 4 { y[i] = x[i] + 1 }";
  FunctionPtr f = parsed("in x: i32[4], out y: i32[4]", base);
  auto same = [&](const std::string& params, const std::string& body) {
    FunctionPtr g = parsed(params, body);
    bool equal = structurally_equal(*f, *g);
    EXPECT_EQ(equal, structural_hash(*f) == structural_hash(*g));
    return equal;
  };
  EXPECT_TRUE(same("in a: i32[4], out b: i32[4]", "# c\n{ for k in 0 .. 4 { b[k] = a[k] + 1 } }"));
  EXPECT_FALSE(same("in x: i32[5], out y: i32[4]", base));
  EXPECT_FALSE(same("in x: i32[4] align 4, out y: i32[4]", base));
  EXPECT_FALSE(same("in x: u32[4], out y: i32[4]", base));
  EXPECT_FALSE(same("scratch x: i32[4], out y: i32[4]", base));
  EXPECT_FALSE(same("in x: i32[4], out y: i32[4]", "for i in 0 .. 4 { y[i] = x[i] +% 1 }"));
  EXPECT_FALSE(same("in x: i32[4], out y: i32[4]", "for i in 0 .. 4 { y[i] = x[i] + 2 }"));
  EXPECT_FALSE(same("in x: i32[4], out y: i32[4]", "for i in 0 .. 4 step 2 { y[i] = x[i] + 1 }"));
  EXPECT_FALSE(same("in x: i32[4], out y: i32[4]", "for i in 0 .. 4 { y[i] = y[i] + 1 }"));
  EXPECT_FALSE(same("in x: i32[4], out y: i32[4]", "for i in 0 .. 4 { } y[0] = x[0] + 1"));
}

TEST(Text, CountsExpressionsAndStatements) {
  EXPECT_EQ(count_nodes(*parsed("", "")), 0);
  EXPECT_EQ(count_nodes(*parsed("", "# no node\n{ eval 1 + 2 }")), 4);
  EXPECT_EQ(count_nodes(*parsed("out y: i32[4]", "for i in 0 .. 4 { y[i] = y[0] }")), 7);
}

std::string parse_error(const std::string& text) {
  Diagnostics diags;
  EXPECT_FALSE(parse(text, "t.tir", diags).ok());
  return diags.str();
}

std::string body_error(const std::string& body) { return parse_error("func f() {\n" + body); }

std::string located(int line, int column, const std::string& what) {
  return "t.tir:" + std::to_string(line) + ":" + std::to_string(column) + ": error: " + what + " [tir-parse]\n";
}

TEST(Text, ErrorsSayWhereAndWhat) {
  EXPECT_EQ(parse_error(""), located(1, 1, "expected 'func', not the end of the text"));
  EXPECT_EQ(parse_error("func min() {}"), located(1, 6, "expected a name, not 'min'"));
  EXPECT_EQ(parse_error("func f(x: i8[1]) {}"), located(1, 8, "expected 'in', 'const', 'out' or 'scratch', not 'x'"));
  EXPECT_EQ(parse_error("func f(in x: int[1]) {}"), located(1, 14, "expected a type, not 'int'"));
  EXPECT_EQ(parse_error("func f(in x: i8[-1]) {}"), located(1, 17, "expected a number, not '-'"));
  EXPECT_EQ(parse_error("func f(in x: i8[3000000000]) {}"), located(1, 17, "expected a number from 0 to 2147483647"));
  EXPECT_EQ(parse_error("func f(in x: i8[1] align 3) {}"), located(1, 26, "an alignment must be a power of two"));
  EXPECT_EQ(parse_error("func f(in x: i8[1], in x: i8[1]) {}"), located(1, 24, "'x' is already declared"));
  EXPECT_EQ(parse_error("func f() {} x"), located(1, 13, "expected the end of the text, not 'x'"));
  EXPECT_EQ(body_error("  x = 1 }"), located(2, 3, "'x' is not declared"));
  EXPECT_EQ(body_error("let i: i32 = j }"), located(2, 14, "'j' is not declared"));
  EXPECT_EQ(body_error("{ let i: i32 = 1 } eval i }"), located(2, 25, "'i' is not declared"));
  EXPECT_EQ(body_error("let i: i32 = 1 let i: i32 = 2 }"), located(2, 20, "'i' is already declared"));
  EXPECT_EQ(body_error("eval 3000000000 }"), located(2, 6, "'3000000000' does not fit its type"));
  EXPECT_EQ(body_error("eval -1u32 }"), located(2, 7, "'-1u32' does not fit its type"));
  EXPECT_EQ(body_error("eval 1.5 }"),
            located(2, 6, "'1.5' is not a number: a type suffix such as f32 or i64 may follow the digits"));
  EXPECT_EQ(body_error("eval 1e99f32 }"), located(2, 6, "'1e99f32' is not a number of its type"));
  EXPECT_EQ(body_error("eval 1 + }"), located(2, 10, "expected an expression, not '}'"));
  EXPECT_EQ(body_error("eval (1 + 2 }"), located(2, 13, "expected ')', not '}'"));
  EXPECT_EQ(body_error("eval min(1) }"), located(2, 6, "'min' takes 2 arguments, not 1"));
  EXPECT_EQ(body_error("eval exp() }"), located(2, 6, "'exp' takes 1 arguments, not 0"));
  EXPECT_EQ(body_error("eval let }"), located(2, 6, "expected an expression, not 'let'"));
  EXPECT_EQ(body_error("eval &q[0] }"), located(2, 7, "expected a buffer, not 'q'"));
  EXPECT_EQ(body_error("eval $ }"), located(2, 6, "expected an expression, not '$'"));
  EXPECT_EQ(body_error("eval 1 + # no\n}"), located(2, 10, "expected an expression, not a comment"));
  EXPECT_EQ(body_error("for i in 0 5 { } }"), located(2, 12, "expected '..', not '5'"));
  EXPECT_EQ(body_error("for i in 0 .. 5 step 0 { } }"), located(2, 22, "expected a number from 1 to 2147483647"));
  EXPECT_EQ(body_error("eval f32.foo }"), located(2, 10, "expected 'inf' or 'nan', not 'foo'"));
  EXPECT_EQ(body_error("1 = 2 }"), located(2, 1, "expected a statement, not '1'"));
  EXPECT_EQ(body_error("\x01"), located(2, 1, "expected a statement, not '\\x01'"));
  EXPECT_EQ(body_error("if 1 { "), located(2, 8, "expected a statement, not the end of the text"));
}

TEST(Text, DepthIsBounded) {
  auto repeat = [](const std::string& s, int n) {
    std::string out;
    for (int i = 0; i < n; ++i) out += s;
    return out;
  };
  EXPECT_NE(body_error("eval " + repeat("(", 100000)).find("nested deeper than 300"), std::string::npos);
  EXPECT_NE(body_error("eval " + repeat("-", 100000)).find("nested deeper than 300"), std::string::npos);
  EXPECT_NE(body_error("eval 1" + repeat("+1", 100000)).find("nested deeper than 300"), std::string::npos);
  EXPECT_NE(body_error(repeat("{", 100000)).find("nested deeper than 300"), std::string::npos);
  // Just inside the bound everything works on the tree.
  FunctionPtr f = parsed("", repeat("if 1 { ", 200) + "eval 1" + repeat(" + 1", 290) + repeat("}", 200));
  EXPECT_EQ(print(*parsed(print(*f))), print(*f));
  EXPECT_EQ(testing::verified(f), "");
  EXPECT_EQ(testing::run(f, {}), "");
}

TEST(Text, NoBytesCrashIt) {
  std::mt19937 random(7);
  const std::string text = kEverything;
  const std::string alphabet = "(){}[]+-*/%<>=!&|^~,.:#0123 \nxyif\xff";
  int parsed_count = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = text;
    for (unsigned n = random() % 4 + 1; n > 0 && !bytes.empty(); --n) {
      size_t at = random() % bytes.size();
      switch (random() % 4) {
        case 0: bytes[at] = alphabet[random() % alphabet.size()]; break;
        case 1: bytes.erase(at, random() % 9); break;
        case 2: bytes.insert(at, bytes.substr(random() % bytes.size(), random() % 30)); break;
        default: bytes.resize(at + 1); break;
      }
    }
    Diagnostics diags;
    Result<FunctionPtr> f = parse(bytes, "t.tir", diags);
    ASSERT_EQ(f.ok(), diags.error_count() == 0);
    if (!f) continue;
    ++parsed_count;
    std::string printed = print(**f);
    EXPECT_EQ(print(*parsed(printed)), printed);
    (void)verify(**f, diags);
  }
  EXPECT_GT(parsed_count, 50);
}

}  // namespace
}  // namespace aotc::tir
