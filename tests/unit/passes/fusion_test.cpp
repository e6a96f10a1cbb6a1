// SPDX-License-Identifier: Apache-2.0
// Fusion of activations and padding into the build's own conv_2d, compared by evaluation.
#include "test_operators.h"

namespace aotc::passes {
namespace {

std::string attribute_of(const graph::Op& op, std::string_view name) {
  for (auto& [field, text] : op.attributes->print())
    if (field == name) return text;
  return "";
}

// A convolution with the quantised result type `type`, then `rest`.
std::string int8_model(const std::string& type, const std::string& rest, const std::string& attributes = "") {
  return R"(graph "g" {
  input %0 "x" i8[1x4x4x1] quant(0.25, -3)
  const %1 "w" i8[2x3x3x1] quant(axis 0, [0.01, 0.02]) = hex {
    0102037f80ff1020300102037f80ff102030
  }
  const %2 "b" i32[2] quant(axis 0, [0.0025, 0.005]) = [40, -40]
  %3 "c" )" +
         type + " = conv_2d(%0, %1, %2) {" + attributes + "}\n" + rest + "}\n";
}

std::string float_model(const std::string& rest, const std::string& attributes = "",
                        const std::string& weights = "[1, -2, 3, -4]") {
  return R"(graph "g" {
  input %0 "x" f32[1x4x4x1]
  const %1 "w" f32[1x2x2x1] = )" +
         weights + "\n  %2 \"c\" f32[1x3x3x1] = conv_2d(%0, %1) {" + attributes + "}\n" + rest + "}\n";
}

TEST(FuseActivation, FloatClampsOfEveryKind) {
  struct Case {
    const char* claim;
    const char* range;
  };
  for (Case c : {Case{"relu", ""}, Case{"relu6", ", most = 6"}, Case{"relu_n1_to_1", ", least = -1, most = 1"}}) {
    graph::Graph graph = run_on("fuse-activation", float_model("  %3 \"r\" f32[1x3x3x1] = test_clamp(%2) {claim = " +
                                                               std::string(c.claim) + c.range + "}\n  output %3\n"));
    ASSERT_EQ(op_names(graph), (Names{"conv_2d"}));
    EXPECT_EQ(attribute_of(graph.ops[0], "activation"), c.claim);
    EXPECT_EQ(graph[graph.ops[0].results[0]].name, "r");
  }
}

TEST(FuseActivation, ComposesActivations) {
  graph::Graph graph = run_on("fuse-activation", float_model("  %3 \"r\" f32[1x3x3x1] = test_clamp(%2)\n"
                                                             "  %4 \"s\" f32[1x3x3x1] = test_clamp(%3) "
                                                             "{claim = relu6, most = 6}\n  output %4\n"));
  ASSERT_EQ(op_names(graph), (Names{"conv_2d"}));
  EXPECT_EQ(attribute_of(graph.ops[0], "activation"), "relu6");
}

TEST(FuseActivation, KeepsWhatOneActivationCannotSay) {
  // [0, 1] is no activation.
  graph::Graph graph =
      run_on("fuse-activation", float_model("  %3 \"r\" f32[1x3x3x1] = test_clamp(%2) {claim = relu_n1_to_1, "
                                            "least = -1, most = 1}\n  output %3\n",
                                            "activation = relu"));
  EXPECT_EQ(op_names(graph), (Names{"conv_2d", "test_clamp"}));
}

TEST(FuseActivation, KeepsActivationsOfSharedOrShownTensors) {
  EXPECT_EQ(op_names(run_on("fuse-activation", float_model("  %3 \"r\" f32[1x3x3x1] = test_clamp(%2)\n"
                                                           "  output %3\n  output %2\n"))),
            (Names{"conv_2d", "test_clamp"}));
  EXPECT_EQ(op_names(run_on("fuse-activation", float_model("  %3 \"r\" f32[1x3x3x1] = test_clamp(%2)\n"
                                                           "  %4 \"n\" f32[1x3x3x1] = test_negate(%2)\n"
                                                           "  output %3\n  output %4\n"))),
            (Names{"conv_2d", "test_clamp", "test_negate"}));
}

TEST(FuseActivation, Int8OnlyWhereBitIdentical) {
  auto names_for = [](const std::string& type, const std::string& clamp) {
    return op_names(run_on("fuse-activation",
                           int8_model("i8[1x2x2x2] quant(0.05, 4)",
                                      "  %4 \"r\" " + type + " = test_clamp(%3) {" + clamp + "}\n  output %4\n")));
  };
  Names fused{"conv_2d"};
  Names kept{"conv_2d", "test_clamp"};
  EXPECT_EQ(names_for("i8[1x2x2x2] quant(0.05, 4)", ""), fused);
  EXPECT_EQ(names_for("i8[1x2x2x2] quant(0.05, 4)", "claim = relu6, most = 6"), fused);
  // Another scale: the convolution would round once where the model rounds twice.
  EXPECT_EQ(names_for("i8[1x2x2x2] quant(0.06, 4)", ""), kept);
  // Claims a relu but computes something else.
  EXPECT_EQ(names_for("i8[1x2x2x2] quant(0.05, 4)", "least = 0.5"), kept);
}

std::string padded_int8(const std::string& pad, const std::string& pad_type, const std::string& result,
                        const std::string& attributes) {
  return R"(graph "g" {
  input %0 "x" i8[1x4x4x1] quant(0.25, -3)
  const %1 "w" i8[2x3x3x1] quant(axis 0, [0.01, 0.02]) = hex {
    0102037f80ff1020300102037f80ff102030
  }
  const %2 "b" i32[2] quant(axis 0, [0.0025, 0.005]) = [40, -40]
  %3 "p" )" +
         pad_type + " = test_pad(%0) {" + pad + "}\n  %4 \"c\" " + result + " = conv_2d(%3, %1, %2) {" + attributes +
         "}\n  output %4\n}\n";
}

TEST(FusePadding, AddsToTheAttributes) {
  graph::Graph graph =
      run_on("fuse-padding", padded_int8("before = [0, 1, 2, 0], after = [0, 0, 1, 0]", "i8[1x5x7x1] quant(0.25, -3)",
                                         "i8[1x4x5x2] quant(0.05, 4)", "pad_top = 1"));
  ASSERT_EQ(op_names(graph), (Names{"conv_2d"}));
  EXPECT_EQ(attribute_of(graph.ops[0], "pad_top"), "2");
  EXPECT_EQ(attribute_of(graph.ops[0], "pad_left"), "2");
  EXPECT_EQ(attribute_of(graph.ops[0], "pad_bottom"), "0");
  EXPECT_EQ(attribute_of(graph.ops[0], "pad_right"), "1");
}

TEST(FusePadding, KeepsOtherValuesAndOtherTypes) {
  Names kept{"test_pad", "conv_2d"};
  const char* result = "i8[1x3x3x2] quant(0.05, 4)";
  EXPECT_EQ(op_names(run_on("fuse-padding", padded_int8("before = [0, 1, 1, 0], fill = 0.25",
                                                        "i8[1x5x5x1] quant(0.25, -3)", result, ""))),
            kept);
  EXPECT_EQ(
      op_names(run_on("fuse-padding", padded_int8("before = [0, 1, 1, 0]", "i8[1x5x5x1] quant(0.25, -2)", result, ""))),
      kept);
}

TEST(FusePadding, FloatNeedsPositiveZerosAndFiniteWeights) {
  auto names_for =
      [](const std::string& pad, const std::string& weights) {
        return op_names(run_on("fuse-padding",
                               R"(graph "g" {
  input %0 "x" f32[1x4x4x1]
  const %1 "w" f32[1x2x2x1] = )" + weights +
                                   R"(
  %2 "p" f32[1x5x5x1] = test_pad(%0) {before = [0, 1, 1, 0])" +
                                   pad + R"(}
  %3 "c" f32[1x4x4x1] = conv_2d(%2, %1)
  output %3
}
)",
                               {}, weights.find("inf") == std::string::npos));
      };
  Names kept{"test_pad", "conv_2d"};
  EXPECT_EQ(names_for("", "[1, -2, 3, -4]"), (Names{"conv_2d"}));
  EXPECT_EQ(names_for(", fill = -0", "[1, -2, 3, -4]"), kept);
  EXPECT_EQ(names_for("", "[1, inf, 3, -4]"), kept);
}

TEST(FusePadding, FusesPaddingOfPaddingButNotChannels) {
  std::string text = R"(graph "g" {
  input %0 "x" f32[1x4x4x1]
  const %1 "w" f32[1x2x2x2] = [1, -2, 3, -4, 5, 6, 7, 8]
  %2 "p" f32[1x4x4x2] = test_pad(%0) {after = [0, 0, 0, 1]}
  %3 "q" f32[1x5x4x2] = test_pad(%2) {before = [0, 1, 0, 0]}
  %4 "r" f32[1x6x4x2] = test_pad(%3) {after = [0, 1, 0, 0]}
  %5 "c" f32[1x5x3x1] = conv_2d(%4, %1)
  output %5
}
)";
  graph::Graph graph = run_on("fuse-padding", text);
  EXPECT_EQ(op_names(graph), (Names{"test_pad", "conv_2d"}));
  EXPECT_EQ(attribute_of(graph.ops[1], "pad_top"), "1");
  EXPECT_EQ(attribute_of(graph.ops[1], "pad_bottom"), "1");
}

}  // namespace
}  // namespace aotc::passes
