// SPDX-License-Identifier: Apache-2.0
// The table of rules: every row is found, and every operator that a model can have has one.
#include "frontends/tflite/rules.h"

#include <gtest/gtest.h>

#include <set>

#include "frontends/tflite/builtin_names.h"

namespace aotc::frontends::tflite {
namespace {

TEST(TfliteRules, EveryRowIsFoundAndItsOperatorIsThere) {
  for (std::span<const Rule> family : {convolution_rules(), custom_rules(), elementwise_rules(), place_rules(),
                                       recurrent_rules(), row_rules(), shape_rules()})
    for (const Rule& rule : family) {
      EXPECT_NE(operators().find(rule.op), nullptr) << rule.name;
      if (rule.custom) {
        ASSERT_NE(rules().find_custom(rule.name), nullptr) << rule.name;
        EXPECT_EQ(rules().find_custom(rule.name)->op, rule.op) << "two rules for " << rule.name;
        continue;
      }
      const auto code = tflite_builtin_code(rule.name);
      ASSERT_TRUE(code) << rule.name;
      ASSERT_NE(rules().find_builtin(*code), nullptr) << rule.name;
      EXPECT_EQ(rules().find_builtin(*code)->op, rule.op) << "two rules for " << rule.name;
    }
}

TEST(TfliteRules, EveryOperatorOfModelsHasARule) {
  // Made by the reader, the compiler or the user.
  const std::set<std::string_view> others = {"as_stored",
                                             "attention",
                                             "bit_and",
                                             "bit_or",
                                             "bit_xor",
                                             "bounded",
                                             "byte_table",
                                             "class_suppression",
                                             "conv_2d_computed",
                                             "conv_3d_sums",
                                             "coupled_probabilities",
                                             "dequantized_mean",
                                             "device_copy",
                                             "erf",
                                             "external",
                                             "float_decode",
                                             "float_encode",
                                             "float_round",
                                             "fully_connected_blocks",
                                             "fully_connected_computed",
                                             "fully_connected_dequantized",
                                             "if",
                                             "layer_normalization",
                                             "maximum_nan",
                                             "reduce_max_nan",
                                             "reduce_min_nan",
                                             "minimum_nan",
                                             "shift_left",
                                             "shift_right_unsigned",
                                             "tree_ensemble",
                                             "unique_rows",
                                             "while"};
  for (const Operator* op : operators().all())
    EXPECT_EQ(rules().of(op->name()).empty(), others.contains(op->name())) << op->name();
}

TEST(TfliteRules, BuiltinsComeInTheOrderOfTheirCodes) {
  std::vector<std::string_view> names;
  for (const Rule* rule : rules().of("reshape")) names.push_back(rule->name);
  EXPECT_EQ(names, (std::vector<std::string_view>{"RESHAPE", "SQUEEZE", "EXPAND_DIMS"}));
}

TEST(TfliteRules, ACustomOperatorIsNoBuiltin) {
  RuleTable table;
  table.add({"ADD", "add"});
  table.add({.name = "MUL", .op = "mul", .custom = true});
  table.add({"NO_SUCH", "add"});
  EXPECT_NE(table.find_builtin(0), nullptr);
  EXPECT_EQ(table.find_custom("ADD"), nullptr);
  EXPECT_EQ(table.find_builtin(18), nullptr);
  EXPECT_NE(table.find_custom("MUL"), nullptr);
  EXPECT_EQ(table.of("add").size(), 1u);
}

}  // namespace
}  // namespace aotc::frontends::tflite
