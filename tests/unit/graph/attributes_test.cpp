// SPDX-License-Identifier: Apache-2.0
#include "graph/attributes.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "test_graph.h"

namespace aotc::graph {
namespace {

TEST(AttributeText, FloatsReadBackToTheSameBits) {
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    uint32_t bits = static_cast<uint32_t>(random());
    float value = std::bit_cast<float>(bits);
    float back = 0;
    ASSERT_TRUE(attribute_text::parse(attribute_text::print(value), back));
    ASSERT_EQ(std::bit_cast<uint32_t>(back), bits) << attribute_text::print(value);
  }
}

TEST(AttributeText, FloatsHaveOneSpelling) {
  EXPECT_EQ(attribute_text::print(0.1f), "0.1");
  EXPECT_EQ(attribute_text::print(-0.0f), "-0");
  EXPECT_EQ(attribute_text::print(std::numeric_limits<float>::infinity()), "inf");
  EXPECT_EQ(attribute_text::print(std::numeric_limits<float>::quiet_NaN()), "nan");
  EXPECT_EQ(attribute_text::print(std::bit_cast<float>(0x7fc00001u)), "nan(0x7fc00001)");
  float value = 3;
  for (const char* bad : {"", "infinity", "NAN", "1e", "1 ", "0x10", "nan(0x3f800000)", "nan(0x)", "1e99", "--1", "+1"})
    EXPECT_FALSE(attribute_text::parse(bad, value)) << bad;
  EXPECT_EQ(value, 3);
}

TEST(AttributeText, StringsOfAnyBytes) {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  std::string text = attribute_text::print(all);
  for (char c : text) EXPECT_TRUE(c >= 0x20 && c < 0x7F);
  std::string back;
  ASSERT_TRUE(attribute_text::parse(text, back));
  EXPECT_EQ(back, all);
  for (const char* bad : {"", "\"", "x", "\"a\"b\"", "\"\\\"", "\"\\x1\"", "\"\\xg0\"", "\"\\n\""})
    EXPECT_FALSE(attribute_text::parse(bad, back)) << bad;
}

TEST(AttributeText, Integers) {
  int32_t narrow = 0;
  EXPECT_TRUE(attribute_text::parse("-2147483648", narrow));
  EXPECT_EQ(narrow, std::numeric_limits<int32_t>::min());
  EXPECT_FALSE(attribute_text::parse("2147483648", narrow));
  EXPECT_FALSE(attribute_text::parse("1.0", narrow));
  std::vector<int64_t> list;
  EXPECT_TRUE(attribute_text::parse("[1,  -2, 3 ]", list));
  EXPECT_EQ(list, (std::vector<int64_t>{1, -2, 3}));
  EXPECT_TRUE(attribute_text::parse("[]", list));
  EXPECT_TRUE(list.empty());
  for (const char* bad : {"", "[", "]", "[1", "[1,]", "[,1]", "[1 2]", "1"})
    EXPECT_FALSE(attribute_text::parse(bad, list)) << bad;
}

TEST(Attributes, PrintParseAndCloneEveryField) {
  EverythingAttrs a;
  a.flag = true;
  a.small = -3;
  a.large = int64_t{1} << 40;
  a.ratio = 1.0f / 3.0f;
  a.label = "a \"b\"";
  a.axes = {0, -1};
  a.type = DType::kI8;
  a.mood = Mood::kCross;
  EverythingAttrs b;
  for (const auto& [name, text] : a.print()) EXPECT_TRUE(b.parse(name, text)) << name;
  EXPECT_EQ(a.print(), b.print());
  EXPECT_NE(a.print(), EverythingAttrs().print());
  EXPECT_EQ(a.clone()->print(), a.print());
  EXPECT_FALSE(b.parse("nothing", "1"));
  EXPECT_FALSE(b.parse("mood", "furious"));
}

}  // namespace
}  // namespace aotc::graph
