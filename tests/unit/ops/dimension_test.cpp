// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "ops/external/given.h"

namespace aotc::ops {
namespace {

struct DimensionNames : ShapeNames {
  graph::Shape x = {1, 40, 8};
  std::optional<int64_t> attribute(std::string_view name) const override {
    if (name == "width") return 5;
    if (name == "least") return INT64_MIN;
    return std::nullopt;
  }
  const graph::Shape* operand(std::string_view name) const override { return name == "x" ? &x : nullptr; }
};

std::string value_or_problem(const std::string& expression) {
  std::string problem;
  auto value = dimension_of(expression, DimensionNames(), problem);
  EXPECT_EQ(value.has_value(), problem.empty()) << expression;
  return value ? std::to_string(*value) : problem;
}

TEST(Dimension, Values) {
  for (const auto& [expression, value] : {std::pair{"7", "7"},
                                          {" x[1] ", "40"},
                                          {"x[-1]*x[1]", "320"},
                                          {"(x[1] - width) / 3 + 1", "12"},
                                          {"2 + 3 * 4 - 1", "13"},
                                          {"x[width - 4]", "40"},
                                          {"-(-7) / 2", "3"},
                                          {"10 / 4 / 2", "1"}})
    EXPECT_EQ(value_or_problem(expression), value) << expression;
}

TEST(Dimension, Problems) {
  for (const auto& [expression, problem] : {std::pair{"", "it ends too early"},
                                            {"1 +", "it ends too early"},
                                            {"x", "'x' is an operand: name a dimension, x[0]"},
                                            {"x[3]", "'x' has 3 dimensions, there is no x[3]"},
                                            {"x[-4]", "'x' has 3 dimensions, there is no x[-4]"},
                                            {"y[0]", "there is no operand 'y'"},
                                            {"height", "there is no attribute 'height' that is a whole number"},
                                            {"(1", "a ')' is missing"},
                                            {"x[1", "a ']' is missing"},
                                            {"1 2", "'2' is not expected at column 3"},
                                            {"1 % 2", "'%' is not expected at column 3"},
                                            {"3a", "'3a' is no number"},
                                            {"1 / (1 - 1)", "it divides by zero"},
                                            {"least / -1", "it is too large"},
                                            {"-least", "it is too large"},
                                            {"99999999999999999999", "it is too large"},
                                            {"9999999999 * 9999999999", "it is too large"}})
    EXPECT_EQ(value_or_problem(expression), problem) << expression;
  EXPECT_EQ(value_or_problem(std::string(1000, '(')), "it is nested too deeply");
  EXPECT_EQ(value_or_problem(std::string(1000, '-') + "1"), "it is nested too deeply");
}

}  // namespace
}  // namespace aotc::ops
