// SPDX-License-Identifier: Apache-2.0
#include "support/text.h"

#include <gtest/gtest.h>

#include <random>

namespace aotc {
namespace {

TEST(CIdentifier, MakesLegalNamesOfAnything) {
  EXPECT_EQ(c_identifier("conv/BiasAdd"), "conv_biasadd");
  EXPECT_EQ(c_identifier("1st"), "_1st");
  EXPECT_EQ(c_identifier("int"), "int_");
  EXPECT_EQ(c_identifier("a//b:0"), "a_b_0");
  EXPECT_EQ(c_identifier("*/ evil"), "evil");
  EXPECT_EQ(c_identifier(""), "x");
  EXPECT_EQ(c_identifier("\xff\xfe", "tensor"), "tensor");
  EXPECT_EQ(c_identifier(std::string(500, 'a')).size(), 48u);
}

TEST(FilledIn, LeavesAloneWhatStandsInAValue) {
  EXPECT_EQ(filled_in("program {{image}} verify", {{"{image}", "/a b/x.elf"}}), "program {/a b/x.elf} verify");
  EXPECT_EQ(filled_in("{project}/{port}", {{"{project}", "/of {port}"}, {"{port}", "tty"}}), "/of {port}/tty");
  EXPECT_EQ(filled_in("{other} {", {{"{port}", "tty"}}), "{other} {");
  EXPECT_EQ(filled_in("", {{"{port}", "tty"}}), "");
}

TEST(CIdentifier, IsLegalForRandomBytes) {
  std::mt19937 random(3);
  for (int i = 0; i < 5000; ++i) {
    std::string name(random() % 80, ' ');
    for (char& c : name) c = static_cast<char>(random());
    std::string made = c_identifier(name);
    ASSERT_FALSE(made.empty());
    ASSERT_TRUE(made[0] < '0' || made[0] > '9') << made;
    for (char c : made) ASSERT_TRUE((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_') << made;
  }
}

TEST(UniqueNames, CountsUp) {
  UniqueNames names;
  names.reserve("b");
  EXPECT_EQ(names.make("a"), "a");
  EXPECT_EQ(names.make("a"), "a_2");
  EXPECT_EQ(names.make("a_2"), "a_2_2");
  EXPECT_EQ(names.make("a"), "a_3");
  EXPECT_EQ(names.make("b"), "b_2");
}

TEST(CCommentText, CannotEndOrOpenAComment) {
  std::mt19937 random(5);
  constexpr char kBytes[] = {'*', '/', '\\', '?', '\n', 'a', '\xff', '\r'};
  for (int i = 0; i < 5000; ++i) {
    std::string text(random() % 40, ' ');
    for (char& c : text) c = kBytes[random() % sizeof kBytes];
    std::string made = c_comment_text(text);
    for (const char* bad : {"*/", "/*", "//", "\\", "??", "\n", "\r"})
      ASSERT_EQ(made.find(bad), std::string::npos) << made;
  }
  EXPECT_EQ(c_comment_text(std::string(200, 'a'), 10), std::string(10, 'a') + "...");
  EXPECT_EQ(c_comment_text("plain text"), "plain text");
}

TEST(Closest, SuggestsOnlyWhatIsNear) {
  std::vector<std::string> ops = {"conv_2d", "relu", "relu6", "softmax"};
  EXPECT_EQ(closest("conv2d", ops), (std::vector<std::string>{"conv_2d"}));
  EXPECT_EQ(closest("RELU", ops, 1), (std::vector<std::string>{"relu"}));
  EXPECT_TRUE(closest("transpose", ops).empty());
}

TEST(Text, NumbersCaseAndHash) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(1234567), "1,234,567");
  EXPECT_EQ(with_commas(-1000), "-1,000");
  EXPECT_EQ(upper("conv_2d"), "CONV_2D");
  // The published test vectors of FNV-1a, 64 bits.
  EXPECT_EQ(stable_hash(""), 0xcbf29ce484222325u);
  EXPECT_EQ(stable_hash("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(stable_hash("foobar"), 0x85944171f73967e8u);
}

}  // namespace
}  // namespace aotc
