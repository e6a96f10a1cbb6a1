// SPDX-License-Identifier: Apache-2.0
// What is no JSON, or JSON of another kind than it must be, is said without the library's names for it.
#include "support/json.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/text.h"

namespace aotc {
namespace {

std::string problem_of(const char* text) {
  nlohmann::json out;
  auto problem = parse_json(text, out);
  return problem ? problem->what : "none";
}

TEST(Json, ProblemsAreSaidWithoutTheNamesOfExceptions) {
  EXPECT_EQ(problem_of("{\"a\": 1}"), "none");
  for (const char* text : {"", "{", "[1,", "{\"a\" 1}", "nonsense", "[1e999]", "\"\xff\"", "{\"a\": 01}"}) {
    EXPECT_EQ(problem_of(text).find("json.exception"), std::string::npos) << text;
    EXPECT_EQ(problem_of(text).find("parse error at"), std::string::npos) << text;
    EXPECT_NE(problem_of(text), "none") << text;
  }
  EXPECT_EQ(problem_of("{").find("syntax error while parsing object key"), 0u) << problem_of("{");
}

TEST(Json, ReasonsOfExceptions) {
  try {
    (void)nlohmann::json("text").get<int>();
    FAIL() << "a string is no number";
  } catch (const nlohmann::json::exception& e) {
    EXPECT_EQ(json_reason(e.what()), "type must be number, but is string");
  }
  EXPECT_EQ(json_reason("there is [no] name"), "there is [no] name");
}

}  // namespace
}  // namespace aotc
