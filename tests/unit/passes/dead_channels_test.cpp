// SPDX-License-Identifier: Apache-2.0
// dead-channels: where each rule applies, and near misses where it must not.
#include <fmt/format.h>

#include "passes/channels.h"
#include "test_operators.h"

namespace aotc::passes {
namespace {

struct PrunedModel {
  graph::Graph graph;
  PassStatistics counts;
};

PrunedModel cut(const std::string& text) {
  PrunedModel out;
  PassOptions options;
  options.statistics = &out.counts;
  out.graph = run_on("dead-channels,compact-tensors", text, options);
  return out;
}

// Channels of op `i`'s result.
int64_t channels(const graph::Graph& graph, size_t i) { return graph[graph.ops[i].results[0]].type.shape.back(); }

// A pointwise convolution "y" from 1 to 3 channels with a scale of 0.25, of which channel 1 is
// 40 / 4 = 10 always, and zero point `zero`; %1 and %2 are its weights and bias.
std::string first(int zero = 0) {
  return fmt::format(R"(graph "g" {{
  input %0 "x" i8[1x4x4x1] quant(0.5, -1)
  const %1 "w" i8[3x1x1x1] quant(0.5, 0) = [100, 0, -70]
  const %2 "b" i32[3] = [1, 40, 3]
  %3 "y" i8[1x4x4x3] quant(1, {}) = conv_2d(%0, %1, %2)
)",
                     zero);
}

// A 3x3 convolution of "y" with `attributes`.
std::string reader(const std::string& attributes, int size) {
  std::string weights;
  for (int i = 0; i < 27; ++i) weights += fmt::format("{}{}", i > 0 ? ", " : "", i % 7 - 3);
  return fmt::format(R"(  const %4 "v" i8[1x3x3x3] quant(0.1, 0) = [{}]
  %5 "z" i8[1x{}x{}x1] quant(1, 5) = conv_2d(%3, %4) {}
  output %5
}}
)",
                     weights, size, size, attributes);
}

constexpr const char* kSame = "{pad_top = 1, pad_bottom = 1, pad_left = 1, pad_right = 1}";

TEST(DeadChannels, FoldsConstantsIntoReadersWithoutPadding) {
  PrunedModel result = cut(first() + reader("", 2));
  EXPECT_EQ(channels(result.graph, 0), 2);
  EXPECT_EQ(result.counts.constant_channels, 1);
  EXPECT_EQ(result.counts.unread_channels, 0);
  EXPECT_EQ(result.counts.channels_cut_tensors, 1);
  EXPECT_EQ(result.graph[result.graph.ops[0].results[0]].name, "y (live channels)");
  EXPECT_EQ(result.graph[result.graph.ops[1].results[0]].name, "z");
  // The reader had no bias.
  EXPECT_EQ(result.graph.ops[1].operands.size(), 3u);
}

TEST(DeadChannels, KeepsConstantsThatPaddingInterrupts) {
  EXPECT_EQ(channels(cut(first() + reader(kSame, 4)).graph, 0), 3);
  // One side is enough.
  EXPECT_EQ(channels(cut(first() + reader("{pad_top = 1, pad_left = 1}", 3)).graph, 0), 3);
}

TEST(DeadChannels, FoldsZeroPointsIntoPaddedReaders) {
  // 40 / 4 - 10 is the zero point.
  std::string text = first(-10);
  text.replace(text.find("[1, 40, 3]"), 10, "[1, 0, 33]");
  PrunedModel result = cut(text + reader(kSame, 4));
  EXPECT_EQ(channels(result.graph, 0), 2);
  EXPECT_EQ(result.graph.ops[1].operands.size(), 2u);  // zero adds nothing to the bias
}

TEST(DeadChannels, KeepsAlmostConstants) {
  // (128 * 1 + 40) / 4 and (-127 + 40) / 4 differ; a weight of one in the middle is enough.
  std::string text = first();
  text.replace(text.find("[100, 0, -70]"), 13, "[100, 1, -70]");
  EXPECT_EQ(channels(cut(text + reader("", 2)).graph, 0), 3);
}

TEST(DeadChannels, FindsConstantsBehindClamps) {
  // Channel 1 is at most (128 * 1 - 129) / 4, so relu leaves nothing of it; with -120 it does not.
  for (int bias : {-129, -120}) {
    std::string text = first(3);
    text.replace(text.find("[100, 0, -70]"), 13, "[100, 1, -70]");
    text.replace(text.find("[1, 40, 3]"), 10, fmt::format("[1, {}, 3]", bias));
    text.replace(text.find("(%0, %1, %2)"), 12, "(%0, %1, %2) {activation = relu}");
    EXPECT_EQ(channels(cut(text + reader(kSame, 4)).graph, 0), bias == -129 ? 2 : 3) << bias;
  }
}

TEST(DeadChannels, TakesMultipliersOfTinyScalesAsZero) {
  // 0.5 * 1e-10 is below 2^-32: whatever the accumulator, the result is the zero point.
  for (const char* scale : {"1e-10", "1e-3"}) {
    std::string text = first(7);
    text.replace(text.find("i8[3x1x1x1] quant(0.5, 0)"), 25,
                 fmt::format("i8[3x1x1x1] quant(axis 0, [0.5, {}, 0.5])", scale));
    text.replace(text.find("[100, 0, -70]"), 13, "[100, 90, -70]");
    text.replace(text.find("[1, 40, 3]"), 10, "[1, 1000, 3]");
    bool tiny = std::string(scale) == "1e-10";
    EXPECT_EQ(channels(cut(text + reader(kSame, 4)).graph, 0), tiny ? 2 : 3) << scale;
  }
}

TEST(DeadChannels, KeepsOutputs) { EXPECT_EQ(channels(cut(first() + "  output %3\n" + reader("", 2)).graph, 0), 3); }

TEST(DeadChannels, KeepsWhatAnUnknownOperatorReads) {
  std::string view = "  %9 \"v\" i8[48] quant(1, 0) = test_view(%3) {shape = [48]}\n  output %9\n";
  EXPECT_EQ(channels(cut(first() + view + reader("", 2)).graph, 0), 3);
}

TEST(DeadChannels, KeepsInputsThatNobodyReads) {
  PrunedModel result = cut(R"(graph "g" {
  input %0 "x" i8[1x2x2x3] quant(0.5, -1)
  const %1 "w" i8[2x1x1x3] quant(0.5, 0) = [100, 0, -70, 3, 0, 5]
  %2 "y" i8[1x2x2x2] quant(1, 0) = conv_2d(%0, %1)
  output %2
}
)");
  EXPECT_EQ(result.graph[result.graph.inputs[0].tensor].type.shape.back(), 3);
  EXPECT_EQ(result.counts.channels_cut_tensors, 0);
}

// Channel 0 of "y" is read by nobody, channel 1 by the first reader, channel 2 by the second one.
std::string two_readers(const std::string& more) {
  return R"(graph "g" {
  input %0 "x" i8[1x2x2x1] quant(0.5, -1)
  const %1 "w" i8[3x1x1x1] quant(0.5, 0) = [100, 20, -70]
  const %2 "v1" i8[1x1x1x3] quant(0.5, 0) = [0, 7, 0]
  const %3 "v2" i8[1x1x1x3] quant(0.5, 0) = [0, 0, 9]
  %4 "y" i8[1x2x2x3] quant(1, 0) = conv_2d(%0, %1)
  %5 "r" i8[1x2x2x3] quant(0.5, 2) = relu(%4)
  %6 "a" i8[1x2x2x1] quant(1, 0) = conv_2d(%4, %2)
  %7 "b" i8[1x2x2x1] quant(1, 0) = conv_2d(%5, %3)
  output %6
  output %7
)" + more +
         "}\n";
}

TEST(DeadChannels, RemovesOnlyWhatNoReaderNeeds) {
  PrunedModel result = cut(two_readers(""));
  EXPECT_EQ(channels(result.graph, 0), 2);
  EXPECT_EQ(channels(result.graph, 1), 2);  // relu cannot pick channels: it keeps both
  EXPECT_EQ(result.counts.unread_channels, 2);
  EXPECT_EQ(cut(two_readers("  output %5\n")).counts.channels_cut_tensors, 0);
}

// A convolution's channel 1 and an addend's channel 1 are both constant, or only one.
std::string sum(const std::string& other, const std::string& weights) {
  return R"(graph "g" {
  input %0 "x" i8[1x2x2x1] quant(0.5, -1)
  const %1 "w" i8[3x1x1x1] quant(0.5, 0) = [100, 0, -70]
  const %2 "b" i32[3] = [1, 40, 3]
  const %3 "v" i8[1x1x1x3] quant(0.5, 0) = )" +
         weights + "\n" + other + R"(
  %8 "y" i8[1x2x2x3] quant(1, 0) = conv_2d(%0, %1, %2)
  %9 "s" i8[1x2x2x3] quant(1.5, 4) = add(%8, %7)
  %10 "p" i8[1x1x1x3] quant(1.5, 4) = max_pool_2d(%9) {filter_h = 2, filter_w = 2}
  %11 "z" i8[1x1x1x1] quant(1, 0) = conv_2d(%10, %3)
  output %11
}
)";
}

TEST(DeadChannels, FollowsAdd) {
  std::string constant = "  const %7 \"k\" i8[3] quant(0.5, 3) = [3, -9, 5]";
  std::string varied = "  const %7 \"k\" i8[1x2x2x3] quant(0.5, 3) = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]";
  std::string computed = R"(  const %4 "u" i8[3x1x1x1] quant(0.5, 0) = [2, 3, 4]
  %7 "k" i8[1x2x2x3] quant(0.5, 3) = conv_2d(%0, %4))";
  EXPECT_EQ(channels(cut(sum(constant, "[1, 2, 3]")).graph, 1), 2);
  EXPECT_EQ(channels(cut(sum(varied, "[1, 2, 3]")).graph, 1), 3);
  EXPECT_EQ(channels(cut(sum(varied, "[1, 0, 3]")).graph, 1), 2);
  EXPECT_EQ(cut(sum(computed, "[1, 2, 3]")).counts.channels_cut_tensors, 0);
  PrunedModel unread = cut(sum(computed, "[1, 0, 3]"));
  EXPECT_EQ(unread.counts.channels_cut_tensors, 4);
  EXPECT_EQ(unread.counts.constant_channels, 1);
  EXPECT_EQ(unread.counts.unread_channels, 3);
  EXPECT_EQ(channels(cut(sum("  const %7 \"k\" i8[] quant(0.5, 3) = [9]", "[1, 2, 3]")).graph, 1), 2);
}

TEST(DeadChannels, LeavesOneChannelOfNone) {
  std::string text = two_readers("");
  text.replace(text.find("[0, 7, 0]"), 9, "[0, 0, 0]");
  text.replace(text.find("[0, 0, 9]"), 9, "[0, 0, 0]");
  EXPECT_EQ(channels(cut(text).graph, 0), 1);
}

TEST(DeadChannels, PassesThroughReshapeIntoFullyConnected) {
  std::string text = R"(graph "g" {
  input %0 "x" i8[1x2x2x1] quant(0.5, -1)
  const %1 "w" i8[3x1x1x1] quant(0.5, 0) = [100, 0, -70]
  const %2 "b" i32[3] = [1, 40, 3]
  const %3 "v" i8[2xDEPTH] quant(0.5, 0) = WEIGHTS
  %4 "y" i8[1x2x2x3] quant(1, 0) = conv_2d(%0, %1, %2)
  %5 "r" i8[SHAPE] quant(1, 0) = reshape(%4) {shape = LIST}
  %6 "z" i8[ROWSx2] quant(1, 0) = fully_connected(%5, %3)
  output %6
}
)";
  auto with = [&](const char* depth, const char* weights, const char* shape, const char* list, const char* rows) {
    std::string out = text;
    for (auto [name, value] :
         {std::pair{"DEPTH", depth}, {"WEIGHTS", weights}, {"SHAPE", shape}, {"LIST", list}, {"ROWS", rows}})
      out.replace(out.find(name), std::string(name).size(), value);
    return out;
  };
  PrunedModel rows = cut(with("3", "[1, 2, 0, 3, 4, 0]", "4x3", "[4, 3]", "4"));
  EXPECT_EQ(channels(rows.graph, 0), 1);
  EXPECT_EQ(rows.counts.channels_cut_tensors, 2);
  // Flattened, places mix with channels.
  EXPECT_EQ(cut(with("12", "[1, 0, 3, 1, 0, 3, 1, 0, 3, 1, 0, 3, 1, 0, 3, 1, 0, 3, 1, 0, 3, 1, 0, 3]", "1x12",
                     "[1, 12]", "1"))
                .counts.channels_cut_tensors,
            0);
  // Rows that are not channels.
  EXPECT_EQ(cut(with("6", "[1, 0, 3, 1, 0, 3, 1, 0, 3, 1, 0, 3]", "4x3", "[4, 3]", "2")).counts.channels_cut_tensors,
            0);
}

TEST(DeadChannels, KeepsThemOnRequest) {
  PassOptions options;
  options.keep_dead_channels = true;
  EXPECT_EQ(channels(run_on("dead-channels", first() + reader("", 2), options), 0), 3);
}

}  // namespace
}  // namespace aotc::passes
