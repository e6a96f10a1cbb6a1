// SPDX-License-Identifier: Apache-2.0
#include "support/text_form.h"

#include <gtest/gtest.h>

namespace aotc {
namespace {

struct Road {
  std::string name;
  int lanes = 1;
  bool toll = false;
  std::vector<float> heights;
  std::vector<std::string> towns;
};

// road "name" [lanes N] [toll] (heights) { town NAME ... }
void form(TextForm& f, Road& r) {
  f.text("road ");
  f.string("the road's name", r.name);
  if (f.option(" lanes ", r.lanes != 1)) f.number("a number of lanes", r.lanes, 1, 8);
  f.flag(" toll", r.toll);
  f.text(" (");
  f.list(r.heights, ")", [&](float& h) { f.number(h); });
  auto town = [&](std::string& name) {
    f.text("town ");
    f.name("a town", name);
  };
  f.text(" ");
  f.block([&] { town(r.towns.emplace_back()); },
          [&] {
            for (std::string& name : r.towns) f.line([&] { town(name); });
          });
}

constexpr TextDialect kRoads{"road-parse"};

std::string reread(const std::string& text) {
  Diagnostics diags;
  TextForm reading(kRoads, text, "t", diags), writing;
  Road road;
  form(reading, road);
  EXPECT_EQ(reading.failed(), diags.error_count() == 1);
  if (reading.failed()) return diags.str();
  EXPECT_TRUE(reading.token().empty());
  form(writing, road);
  return writing.written();
}

TEST(TextForm, ReadsAndWritesByOneDescription) {
  EXPECT_EQ(reread("road \"a\\x0a\" (){}"), "road \"a\\x0a\" () {\n}");
  const std::string all = "road \"b\" lanes 3 toll (0.5, -inf, nan(0x7fc00001)) {\n  town x\n  town 7_y\n}";
  EXPECT_EQ(reread(all), all);
  EXPECT_EQ(reread("// first\nroad\"c\"lanes 2(1,2)// more\n{ town x }\n"), "road \"c\" lanes 2 (1, 2) {\n  town x\n}");
}

TEST(TextForm, ReportsTheFirstErrorOnly) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "t:1:1: error: expected 'road', found end of text [road-parse]\n"},
      {"road 1", "t:1:6: error: expected the road's name as a quoted string on one line, found '1' [road-parse]\n"},
      {"road \"a\" lanes x", "t:1:16: error: expected a number of lanes, found 'x' [road-parse]\n"},
      {"road \"a\"\n lanes 9 (", "t:2:8: error: a number of lanes is a number from 1 to 8 [road-parse]\n"},
      {"road \"a\" (1 2) {}", "t:1:13: error: expected ',', found '2' [road-parse]\n"},
      {"road \"a\" () { town x", "t:1:21: error: expected 'town', found end of text [road-parse]\n"},
      {"road \"a\" () { town {", "t:1:20: error: expected a town, found '{' [road-parse]\n"},
  };
  for (const auto& [text, error] : cases) EXPECT_EQ(reread(text), error) << text;
}

}  // namespace
}  // namespace aotc
