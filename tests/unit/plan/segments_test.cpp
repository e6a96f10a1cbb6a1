// SPDX-License-Identifier: Apache-2.0
// Operators that are computed row by row: in which order, with how many rows of each tensor at a time, which operators
// can be so, and what a plan with them computes.
#include "plan/segments.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ops/operator.h"
#include "packing_oracle.h"
#include "plan/merge.h"
#include "plan/parts.h"
#include "tir/tir.h"

namespace aotc::plan {
namespace {

constexpr int64_t kNothing = INT64_MIN;

// Does what the schedule says with rows that know which they are. Empty, or what goes wrong.
std::string play(const std::vector<RowTensor>& tensors, const std::vector<RowStage>& stages, const RowSchedule& s) {
  std::vector<std::vector<int64_t>> memory;
  for (size_t t = 0; t < tensors.size(); ++t)
    memory.emplace_back(static_cast<size_t>(tensors[t].place == RowPlace::kWhole ? tensors[t].rows : s.slots[t]),
                        kNothing);
  if (tensors[0].place == RowPlace::kWhole)
    for (size_t row = 0; row < memory[0].size(); ++row) memory[0][row] = static_cast<int64_t>(row);
  std::vector<int64_t> next(stages.size(), 0);
  for (const RowEvent& e : s.events) {
    if (e.kind == RowEvent::Kind::kStage) {
      const RowStage& stage = stages[e.index];
      if (e.row != next[e.index]) return fmt::format("stage {} makes row {}", e.index, e.row);
      next[e.index] += e.count;
      for (size_t r = 0; r < stage.reads.size(); ++r)
        for (int64_t i = 0; i < stage.rows_read(r, e.count); ++i) {
          const auto& from = memory[stage.reads[r].tensor];
          const ops::RowFlow& flow = stage.reads[r].flow;
          const int64_t slot = e.sources[r] + i, want = e.row / stage.makes * flow.stride - flow.before + i;
          if (slot < 0 || slot >= static_cast<int64_t>(from.size()) || from[static_cast<size_t>(slot)] != want)
            return fmt::format("row {} of stage {} does not find row {}", e.row, e.index, want);
        }
    }
    auto& to = memory[e.tensor];
    for (int64_t i = 0; i < e.kept; ++i) to[static_cast<size_t>(i)] = to[static_cast<size_t>(i + e.shift)];
    if (e.slot < 0 || e.slot + e.count > static_cast<int64_t>(to.size())) return "a row has no slot";
    for (int64_t i = 0; i < e.count; ++i) to[static_cast<size_t>(e.slot + i)] = e.row + i;
  }
  for (size_t i = 0; i < stages.size(); ++i)
    if (next[i] != tensors[stages[i].result].rows) return fmt::format("stage {} ends with {} rows", i, next[i]);
  return "";
}

// Every row of image rows of `width` pixels by its pixels.
void count_pixels(std::vector<RowTensor>& tensors, std::vector<RowStage>& stages, int64_t width) {
  for (RowTensor& t : tensors) t.rows *= t.step = width;
  for (RowStage& s : stages) {
    s.makes *= width;
    for (RowRead& r : s.reads) r.flow.rows *= width, r.flow.stride *= width, r.flow.before *= width;
  }
}

TEST(RowSchedule, EveryRowFindsWhatItReads) {
  TestRandom random(5);
  for (int round = 0; round < 400; ++round) {
    std::vector<RowTensor> tensors = {{random.range(1, 20), RowPlace::kWindow, true}};
    std::vector<RowStage> stages;
    for (int64_t depth = random.range(2, 6); depth > 0; --depth) {
      ops::RowFlow flow;
      flow.rows = random.range(1, 4);
      flow.stride = random.range(1, 3);
      const int64_t in = tensors.back().rows;
      flow.before = random.range(0, flow.rows - 1);
      const int64_t rows = (in + flow.before + random.range(0, flow.rows - 1) - flow.rows) / flow.stride + 1;
      if (in + flow.before < flow.rows || rows < 1) continue;
      stages.push_back({{{tensors.size() - 1, flow}}, tensors.size()});
      tensors.push_back({rows});
      // What came before once more, where that has as many rows.
      for (size_t t = 0; t + 1 < tensors.size(); ++t)
        if (tensors[t].rows == rows && random.range(0, 2) == 0) stages.back().reads.push_back({t, {}});
    }
    if (stages.empty()) continue;
    tensors.back().place = RowPlace::kWhole;
    // Some rows at a time, and some pixels where each is made of one.
    for (RowStage& s : stages) {
      if (round % 2 == 0) continue;
      s.makes = random.range(1, std::min<int64_t>(4, tensors[s.result].rows));
      for (RowRead& r : s.reads) r.flow.rows += (s.makes - 1) * r.flow.stride, r.flow.stride *= s.makes;
    }
    if (round % 4 == 3) count_pixels(tensors, stages, 5);
    for (RowStage& s : stages) {
      ops::RowFlow& flow = s.reads[0].flow;
      if (round % 4 == 3 && s.reads.size() == 1 && flow.rows == s.makes && flow.stride == s.makes &&
          random.range(0, 1) == 0)
        s.makes = flow.rows = flow.stride = random.range(1, 7);
    }
    const auto schedule = schedule_rows(tensors, stages);
    ASSERT_TRUE(schedule) << "round " << round;
    ASSERT_EQ(play(tensors, stages, *schedule), "") << "round " << round;
  }
}

TEST(RowSchedule, WindowsAreAsHighAsKernels) {
  const ops::RowFlow same{3, 1, 1, 1, {0}}, half{3, 2, 0, 1, {0}};
  const std::vector<RowTensor> tensors = {{16, RowPlace::kWindow, true}, {16}, {16}, {16}, {8}, {8, RowPlace::kWhole}};
  // Two convolutions with what they begin with added, one with stride 2, one of single pixels.
  const std::vector<RowStage> stages = {
      {{{0, same}}, 1}, {{{1, same}}, 2}, {{{2, {}}, {0, {}}}, 3}, {{{3, half}}, 4}, {{{4, {}}}, 5}};
  const auto schedule = schedule_rows(tensors, stages);
  ASSERT_TRUE(schedule);
  EXPECT_EQ(schedule->slots, (std::vector<int64_t>{3, 3, 1, 3, 1, 0}));
  EXPECT_EQ(play(tensors, stages, *schedule), "");
}

// Three pixels at a time of rows of five: a window between rows has no more than what is left over beside the row.
TEST(RowSchedule, PixelsLeaveFewOver) {
  std::vector<RowTensor> tensors = {{16, RowPlace::kWindow, true}, {16}, {16}, {16, RowPlace::kWhole}};
  std::vector<RowStage> stages = {{{{0, {3, 1, 1, 1, {0}}}}, 1}, {{{1, {}}}, 2}, {{{2, {3, 1, 1, 1, {0}}}}, 3}};
  count_pixels(tensors, stages, 5);
  stages[1].makes = stages[1].reads[0].flow.rows = stages[1].reads[0].flow.stride = 3;
  const auto schedule = schedule_rows(tensors, stages);
  ASSERT_TRUE(schedule);
  EXPECT_EQ(schedule->slots, (std::vector<int64_t>{15, 7, 17, 0}));
  EXPECT_EQ(play(tensors, stages, *schedule), "");
}

graph::Graph parsed_chain(const std::string& text) {
  Diagnostics diags;
  auto graph = graph::parse(text, "test.air", ops::definition_lookup(), diags);
  EXPECT_TRUE(graph.ok() && ops::verify_graph(*graph, diags)) << diags.str();
  return graph.ok() ? std::move(*graph) : graph::Graph();
}

std::string taps(int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += fmt::format("{}{}", i > 0 ? ", " : "", i % 7 - 3);
  return "[" + out + "]";
}

// A depthwise convolution, another with what it begins with added, and the largest of windows.
std::string chain(const std::string& tail = "", const std::string& outputs = "  output %6\n") {
  const std::string t = " i8[1x12x4x4] quant(0.5, 3)",
                    pads = " {pad_top = 1, pad_bottom = 1, pad_left = 1, pad_right = 1}";
  return "graph \"g\" {\n  input %0 \"x\"" + t + "\n  const %1 \"w\" i8[1x3x3x4] quant(0.1, 0) = " + taps(36) + "\n" +
         "  %2 \"a\"" + t + " = depthwise_conv_2d(%0, %1)" + pads + "\n  %3 \"b\"" + t +
         " = depthwise_conv_2d(%2, %1)" + pads + "\n  %4 \"c\"" + t + " = add(%2, %3)\n" +
         "  %6 \"d\" i8[1x6x2x4] quant(0.5, 3) = max_pool_2d(%4) {filter_h = 2, filter_w = 2, stride_h = 2, stride_w = "
         "2}\n" +
         tail + outputs + "}\n";
}

TEST(Segments, WhatCanBeOne) {
  const graph::Graph g = parsed_chain(chain());
  for (size_t last = 1; last < 4; ++last) EXPECT_EQ(rows_of_segment(g, {0, last}).has_value(), last > 1) << last;
  // Two tensors from outside.
  EXPECT_FALSE(rows_of_segment(g, {1, 2})->input != graph::TensorId{2});
  EXPECT_TRUE(rows_of_segment(g, {2, 3}) == std::nullopt);
  // Somebody else reads what would be rows.
  const graph::Graph used = parsed_chain(chain("", "  output %6\n  output %3\n"));
  EXPECT_FALSE(rows_of_segment(used, {0, 3}));
  EXPECT_TRUE(rows_of_segment(used, {2, 3}) == std::nullopt);
}

// What the plan gives for some input; also what the reference gives.
void expect_rows_evaluated(const Program& p) {
  std::vector<uint8_t> input(static_cast<size_t>(p.graph[p.graph.inputs[0].tensor].type.bytes()));
  for (size_t i = 0; i < input.size(); ++i) input[i] = static_cast<uint8_t>(i * 37 + i / 16);
  Diagnostics diags;
  auto out = run_program(p, {input}, diags);
  ASSERT_TRUE(out.ok()) << diags.str();
  const auto values = ops::evaluate_graph(p.graph, {input});
  EXPECT_EQ((*out)[0], values[static_cast<size_t>(p.graph.outputs[0].tensor.value)]);
}

std::vector<uint8_t> fed_result(const Program& p, const std::vector<uint8_t>& input);

TEST(Segments, AreTakenWhereTheArenaIsSmaller) {
  PlanOptions options;
  options.inputs = Contract::kOverwrite;
  Diagnostics diags;
  auto whole = plan_program(parsed_chain(chain()), options, diags);
  options.stream = {Stream::kMax};
  auto rows = plan_program(parsed_chain(chain()), options, diags);
  ASSERT_TRUE(whole.ok() && rows.ok()) << diags.str();
  EXPECT_LT(rows->calls.size(), whole->calls.size());
  EXPECT_LT(rows->arena_bytes, whole->arena_bytes);
  EXPECT_FALSE(rows->stream_tried.empty());
  for (const StreamTried& tried : rows->stream_tried) EXPECT_LT(tried.arena_bytes, whole->arena_bytes);
  expect_rows_evaluated(*whole);
  expect_rows_evaluated(*rows);
}

// The plan by rows with the smallest arena; all that were tried have a smaller one than the plan without rows.
Program by_rows(const graph::Graph& graph, Contract inputs, Contract outputs) {
  PlanOptions options;
  options.inputs = inputs;
  options.outputs = outputs;
  Diagnostics diags;
  const auto whole = plan_program(graph, options, diags);
  options.stream = {Stream::kMax};
  auto program = plan_program(graph, options, diags);
  EXPECT_TRUE(whole.ok() && program.ok()) << diags.str();
  EXPECT_EQ(diags.str(), "");
  if (!whole || !program) return {};
  for (const StreamTried& tried : program->stream_tried) EXPECT_LT(tried.arena_bytes, whole->arena_bytes);
  expect_rows_evaluated(*program);
  return std::move(*program);
}

// What the caller keeps takes nothing of the arena, and so is no reason against rows.
TEST(Segments, AreRatedByWhatLiesInTheArena) {
  const std::string narrow = " i8[1x7x2x4] quant(0.5, 3)", wide = " i8[1x7x2x8] quant(0.5, 3)";
  const graph::Graph g = parsed_chain("graph \"g\" {\n  input %0 \"x\"" + narrow +
                                      "\n  const %1 \"v\" i8[8x1x1x4] quant(0.1, 0) = " + taps(32) +
                                      "\n  const %2 \"w\" i8[4x1x1x8] quant(0.1, 0) = " + taps(32) + "\n  %3 \"a\"" +
                                      wide + " = conv_2d(%0, %1)\n  %4 \"b\"" + wide + " = add(%3, %3)\n  %5 \"c\"" +
                                      narrow + " = conv_2d(%4, %2)\n  output %5\n}\n");
  for (auto [inputs, outputs, arena] : {std::tuple{Contract::kPreserve, Contract::kPreserve, 32},
                                        {Contract::kOverwrite, Contract::kPreserve, 80},
                                        {Contract::kPreserve, Contract::kOverwrite, 88},
                                        {Contract::kOverwrite, Contract::kOverwrite, 88}}) {
    const Program program = by_rows(g, inputs, outputs);
    EXPECT_EQ(program.arena_bytes, arena);
    EXPECT_EQ(program.calls.size(), 1U);
  }
}

// Rows that cannot be lowered do not stand in the way of those that can: here the input's are of six bytes.
TEST(Segments, BeginWhereRowsBeginAtWords) {
  const graph::Graph g = parsed_chain(
      "graph \"g\" {\n  input %0 \"x\" i8[1x6x2x3] quant(0.5, 3)\n  const %1 \"u\" i8[2x1x1x3] quant(0.1, 0) = " +
      taps(6) +
      "\n  %2 \"a\" i8[1x6x2x2] quant(0.5, 3) = conv_2d(%0, %1)\n  const %3 \"v\" i8[1x3x1x2] quant(0.1, 0) = " +
      taps(6) +
      "\n  %4 \"b\" i8[1x4x2x2] quant(0.5, 3) = depthwise_conv_2d(%2, %3)\n  const %5 \"w\" i8[10x1x1x2] quant(0.1, 0) "
      "= " +
      taps(20) +
      "\n  %6 \"c\" i8[1x4x2x10] quant(0.5, 3) = conv_2d(%4, %5)\n  const %7 \"z\" i8[4x1x1x10] quant(0.1, 0) = " +
      taps(40) + "\n  %8 \"d\" i8[1x4x2x4] quant(0.5, 3) = conv_2d(%6, %7)\n  output %8\n}\n");
  const Program program = by_rows(g, Contract::kPreserve, Contract::kPreserve);
  EXPECT_EQ(program.calls.size(), 3U);
  EXPECT_EQ(program.arena_bytes, 36);
}

// Segments behind the largest peak may save nothing: the list with them is no plan that was tried.
TEST(Segments, AreTriedWhereTheySave) {
  const graph::Graph g = parsed_chain(
      "graph \"g\" {\n  input %0 \"x\" i8[1x10x4x2] quant(0.5, 3)\n  const %1 \"u\" i8[9x1x1x2] quant(0.1, 0) = " +
      taps(18) +
      "\n  %2 \"a\" i8[1x10x4x9] quant(0.5, 3) = conv_2d(%0, %1)\n  const %3 \"v\" i8[1x3x1x9] quant(0.1, 0) = " +
      taps(27) +
      "\n  %4 \"b\" i8[1x8x4x9] quant(0.5, 3) = depthwise_conv_2d(%2, %3)\n  const %5 \"w\" i8[3x1x1x9] quant(0.1, 0) "
      "= " +
      taps(27) +
      "\n  %6 \"c\" i8[1x8x4x3] quant(0.5, 3) = conv_2d(%4, %5)\n  const %7 \"z\" i8[4x1x1x3] quant(0.1, 0) = " +
      taps(12) + "\n  %8 \"d\" i8[1x8x4x4] quant(0.5, 3) = conv_2d(%6, %7)\n  output %8\n}\n");
  EXPECT_EQ(by_rows(g, Contract::kPreserve, Contract::kPreserve).arena_bytes, 156);
  EXPECT_EQ(by_rows(g, Contract::kOverwrite, Contract::kPreserve).arena_bytes, 212);
}

TEST(Segments, AskedForWhateverTheyCost) {
  for (const Segment& segment : {Segment{0, 2}, Segment{0, 3}}) {
    PlanOptions options;
    options.stream = {Stream::kMax};
    options.arrangement = Arrangement{.segments = {segment}};
    Diagnostics diags;
    auto program = plan_program(parsed_chain(chain()), options, diags);
    ASSERT_TRUE(program.ok()) << diags.str();
    EXPECT_EQ(program->calls.size(), 4 - segment.last);
    EXPECT_EQ(program->calls[0].rows.size(), segment.last);
    expect_rows_evaluated(*program);
  }
}

// A depthwise convolution, one of single pixels whose result is padded, and another of windows: rows of five pixels.
std::string narrow() {
  const std::string t = " i8[1x9x5x4] quant(0.5, 3)",
                    pads = " {pad_top = 1, pad_bottom = 1, pad_left = 1, pad_right = 1}";
  return "graph \"g\" {\n  input %0 \"x\"" + t + "\n  const %1 \"w\" i8[1x3x3x4] quant(0.1, 0) = " + taps(36) + "\n" +
         "  const %2 \"p\" i8[4x1x1x4] quant(0.1, 0) = [9, -8, 7, -6, 5, 4, -3, 2, 1, 2, 3, 4, -5, 6, -7, 8]\n" +
         "  %3 \"a\"" + t + " = depthwise_conv_2d(%0, %1)" + pads + "\n  %4 \"b\"" + t + " = conv_2d(%3, %2)\n" +
         "  %5 \"c\"" + t + " = depthwise_conv_2d(%4, %1)" + pads + "\n  %6 \"d\"" + t +
         " = conv_2d(%5, %2)\n  output %6\n}\n";
}

// Bands of rows, and of pixels that are no whole rows, of the whole input and of rows that are fed.
TEST(Segments, TakeBands) {
  for (const std::vector<int64_t>& bands : {std::vector<int64_t>{0, 3, 0, 0},
                                            {0, 3, 0, 2},
                                            {10, 4, 20, 7},
                                            {0, 10, 15, 0},
                                            {15, 15, 15, 45},
                                            {0, 14, 10, 3}})
    for (bool feed : {false, true}) {
      PlanOptions options;
      options.stream = {Stream::kMax};
      options.feed = feed;
      options.arrangement = Arrangement{.segments = {{0, 3, bands}}};
      Diagnostics diags;
      auto program = plan_program(parsed_chain(narrow()), options, diags);
      ASSERT_TRUE(program.ok()) << diags.str();
      EXPECT_EQ(program->calls.size(), 1U);
      expect_rows_evaluated(*program);
      if (!feed) continue;
      std::vector<uint8_t> input(180);
      for (size_t i = 0; i < input.size(); ++i) input[i] = static_cast<uint8_t>(i * 37 + i / 16);
      EXPECT_EQ(fed_result(*program, input), ops::evaluate_graph(program->graph, {input})[6]);
    }
}

TEST(Segments, TakeNoBandsThatCannotBe) {
  const graph::Graph g = parsed_chain(narrow());
  for (const std::vector<int64_t>& bands :
       {std::vector<int64_t>{3, 0, 0, 0}, {0, 0, 4, 0}, {0, 3, 0}, {0, -3, 0, 0}, {0, 46, 0, 0}, {50, 0, 0, 0}})
    EXPECT_FALSE(rows_of_segment(g, {0, 3, bands}));
  EXPECT_TRUE(rows_of_segment(g, {0, 3, {0, 3, 0, 3}}));
  // Rows that are fed are rows.
  EXPECT_TRUE(rows_of_segment(g, {1, 3, {3, 0, 0}}));
  EXPECT_FALSE(rows_of_segment(g, {1, 3, {3, 0, 0}}, true));
}

// What is told how many rows it makes makes one at a time.
TEST(Segments, SlicesTakeNoBands) {
  const graph::Graph g = parsed_chain(
      "graph \"g\" {\n  input %0 \"x\" i8[1x12x4x4] quant(0.5, 3)\n  %1 \"a\" i8[1x12x4x4] quant(0.5, 3) = relu(%0)\n"
      "  %2 \"b\" i8[1x6x4x4] quant(0.5, 3) = slice(%1) {begin = [0, 2, 0, 0], strides = [1, 1, 1, 1], counts = [1, 6, "
      "4, 4], "
      "shape = [1, 6, 4, 4]}\n  output %2\n}\n");
  EXPECT_TRUE(rows_of_segment(g, {0, 1}));
  EXPECT_TRUE(rows_of_segment(g, {0, 1, {8, 0}}));
  EXPECT_FALSE(rows_of_segment(g, {0, 1, {0, 8}}));
}

TEST(Segments, AskedForThatCannotBeHaveNoPlan) {
  PlanOptions options;
  options.stream = {Stream::kMax};
  options.arrangement = Arrangement{.segments = {{2, 3}}};  // reads two tensors from outside
  Diagnostics diags;
  EXPECT_FALSE(plan_program(parsed_chain(chain()), options, diags).ok());
}

// The plan without rows is left of a graph whose rows cannot be.
TEST(Segments, AreLeftOutWhereRowsBeginBetweenWords) {
  const std::string t = " i8[1x12x3x1] quant(0.5, 3)",
                    pads = " {pad_top = 1, pad_bottom = 1, pad_left = 1, pad_right = 1}\n";
  const graph::Graph g =
      parsed_chain("graph \"g\" {\n  input %0 \"x\"" + t +
                   "\n  const %1 \"w\" i8[1x3x3x1] quant(0.1, 0) = [1, 2, 3, 4, 5, 6, 7, 8, 9]\n" + "  %2 \"a\"" + t +
                   " = depthwise_conv_2d(%0, %1)" + pads + "  %3 \"b\"" + t + " = depthwise_conv_2d(%2, %1)" + pads +
                   "  %4 \"c\"" + t + " = add(%2, %3)\n  output %4\n}\n");
  EXPECT_TRUE(segment_candidates(g, Contract::kOverwrite, Contract::kPreserve).empty());
  EXPECT_EQ(by_rows(g, Contract::kOverwrite, Contract::kPreserve).calls.size(), 3U);
}

// That an operator may fail is found when it is lowered.
TEST(Segments, AreLeftOutWhereAnOperatorMayFail) {
  const std::string i32 = " i32[1x12x3x4]", i8 = " i8[1x12x3x4]";
  auto graph = [&](const std::string& name) {
    return parsed_chain("graph \"g\" {\n  input %0 \"x\"" + i8 + "\n  %1 \"a\"" + i32 + " = cast(%0)\n  %2 \"b\"" +
                        i32 + " = " + name + "(%1, %1)\n  %3 \"c\"" + i8 + " = cast(%2)\n  output %3\n}\n");
  };
  EXPECT_FALSE(segment_candidates(graph("div"), Contract::kOverwrite, Contract::kPreserve).empty());
  Diagnostics diags;
  PlanOptions options;
  options.inputs = Contract::kOverwrite;
  options.stream = {Stream::kMax};
  const auto program = plan_program(graph("div"), options, diags);
  ASSERT_TRUE(program.ok()) << diags.str();
  EXPECT_EQ(diags.str(), "");
  EXPECT_EQ(program->calls.size(), 3U);
  EXPECT_TRUE(program->stream_tried.empty());
  EXPECT_EQ(by_rows(graph("mul"), Contract::kOverwrite, Contract::kPreserve).calls.size(), 1U);
}

// Branches, several devices and tables in program memory are planned without rows, whatever is asked for; where rows
// are to be fed that is an error with the model's name.
TEST(Segments, AreOfPlainProgramsOnly) {
  const std::string t = " i8[1x6x2x4] quant(0.5, 3)", region = " {\n    input %0 \"x\"" + t + "\n    output %0\n  }",
                    branch = "  input %7 \"c\" bool[1]\n  %8 \"e\"" + t + " = if(%7, %6) region \"then\"" + region +
                             " region \"else\"" + region + "\n";
  struct Case {
    graph::Graph graph;
    size_t devices;
    bool program_tables;
    std::string why;
  };
  const std::string control = "a model with branches or loops has no rows";
  for (const Case& c : {Case{parsed_chain(chain(branch, "  output %8\n")), 1, false, control},
                        Case{parsed_chain(chain()), 2, false, "a plan for several devices has no rows"},
                        Case{parsed_chain(chain()), 1, true, "kernels of rows cannot read tables in program memory"}}) {
    PlanOptions options;
    options.devices.devices.resize(c.devices);
    options.program_tables = c.program_tables;
    options.inputs = Contract::kOverwrite;
    options.stream = {Stream::kMax};
    Diagnostics diags;
    auto program = plan_program(c.graph, options, diags);
    ASSERT_TRUE(program.ok()) << diags.str();
    for (const ProgramCall& call : program->calls) EXPECT_FALSE(call.by_rows) << c.why;
    EXPECT_EQ(program->source != nullptr, c.why == control);
    options.feed = true;
    graph::Graph named = c.graph;
    named.source_file = "model.tflite";
    EXPECT_FALSE(plan_program(named, options, diags).ok());
    EXPECT_EQ(diags.str().find("model.tflite"), 0u) << diags.str();
    EXPECT_NE(diags.str().find("the input cannot be fed by rows: " + c.why), std::string::npos) << diags.str();
  }
}

TEST(Segments, WindowsLieOverRowsThatWereRead) {
  PlanOptions options;
  options.inputs = Contract::kOverwrite;
  options.stream = {Stream::kMax};
  options.arrangement = Arrangement{.segments = {{0, 3}}};
  Diagnostics diags;
  auto program = plan_program(parsed_chain(chain()), options, diags);
  ASSERT_TRUE(program.ok()) << diags.str();
  EXPECT_LT(program->arena_bytes, 192 + program->calls[0].scratch_bytes);
  EXPECT_LT(program->arena_bytes, program->arena_without_overlap);
  expect_rows_evaluated(*program);
}

// The first call of a program as NAME_begin and NAME_feed make it, with every row in its place when
// it is fed: what it leaves where its result is.
std::vector<uint8_t> fed_result(const Program& p, const std::vector<uint8_t>& input) {
  const Feeding& fed = *p.feeding;
  const ProgramCall& call = p.calls[static_cast<size_t>(fed.call)];
  std::vector<uint8_t> arena(static_cast<size_t>(p.arena_bytes), 0xA5), out(1024, 0x5A);
  std::vector<tir::Memory> memory;
  uint8_t* result = nullptr;
  for (size_t a = 1; a < call.arguments.size(); ++a) {
    const CallArgument& arg = call.arguments[a];
    uint8_t* at = arena.data() + arg.storage.offset;
    if (arg.storage.kind == StorageKind::kOutput) at = out.data();
    if (arg.storage.kind == StorageKind::kConstant)
      at = const_cast<uint8_t*>(p.constants[static_cast<size_t>(arg.storage.index)].data.bytes.data());
    memory.push_back({at, arg.elements * size_of(arg.dtype)});
    result = at;
  }
  Diagnostics diags;
  auto events = [&](int64_t from, int64_t to) {
    EXPECT_TRUE(tir::interpret(*with_kept_scratch(*with_scalars(*fed.part, {from, to})), memory, diags)) << diags.str();
  };
  events(0, fed.begins[0]);
  for (size_t row = 0; row < fed.slots.size(); ++row) {
    std::copy_n(input.begin() + static_cast<std::ptrdiff_t>(row) * fed.row_bytes, fed.row_bytes,
                arena.begin() + fed.place.offset + fed.slots[row] * fed.row_bytes);
    events(fed.begins[row], fed.begins[row + 1]);
  }
  return {result, result + p.graph[call.results[0]].type.bytes()};
}

Result<Program> planned_by_rows(const std::string& text, Diagnostics& diags, bool prefer_ram = true) {
  PlanOptions options;
  options.feed = true;
  options.target.prefer_ram = prefer_ram;
  return plan_program(parsed_chain(text), options, diags);
}

TEST(Segments, TakeBandsOfFedRowsIfCyclesCountMore) {
  Diagnostics diags;
  const auto whole = plan_program(parsed_chain(chain()), {}, diags);
  const auto small = planned_by_rows(chain(), diags), fast = planned_by_rows(chain(), diags, false);
  ASSERT_TRUE(whole.ok() && small.ok() && fast.ok()) << diags.str();
  EXPECT_LT(small->arena_bytes, fast->arena_bytes);
  EXPECT_LE(fast->arena_bytes, whole->arena_bytes);
  EXPECT_TRUE(small->schedule.arrangement.segments[0].bands.empty());
  EXPECT_FALSE(fast->schedule.arrangement.segments[0].bands.empty());
  expect_rows_evaluated(*fast);
}

TEST(Segments, AreFedByRows) {
  Diagnostics diags;
  auto program = planned_by_rows(chain(), diags);
  ASSERT_TRUE(program.ok() && program->feeding) << diags.str();
  EXPECT_EQ(program->feeding->rows(), 12);
  EXPECT_EQ(program->feeding->row_bytes, 16);
  EXPECT_TRUE(program->feeding->prepares);  // a row of padding
  // Windows of three rows for the input and what is behind it.
  EXPECT_LT(program->arena_bytes, 192);
  expect_rows_evaluated(*program);
  std::vector<uint8_t> input(192);
  for (size_t i = 0; i < input.size(); ++i) input[i] = static_cast<uint8_t>(i * 37 + i / 16);
  const auto values = ops::evaluate_graph(program->graph, {input});
  EXPECT_EQ(fed_result(*program, input), values[static_cast<size_t>(program->calls[0].results[0].value)]);
}

// What reads all rows for one result, behind a depthwise convolution.
std::string summed(const std::string& what) {
  std::string weights;
  for (int i = 0; i < 5 * 192; ++i) weights += fmt::format("{}{}", i > 0 ? ", " : "", i * 31 % 255 - 127);
  const std::string t = " i8[1x12x4x4] quant(0.5, 3)";
  return "graph \"g\" {\n  input %0 \"x\"" + t + "\n  const %1 \"w\" i8[1x3x3x4] quant(0.1, 0) = " + taps(36) +
         "\n  const %5 \"m\" i8[5x192] quant(0.01, 0) = [" + weights + "]\n  %2 \"a\"" + t +
         " = depthwise_conv_2d(%0, %1) {pad_top = 1, pad_bottom = 1, pad_left = 1, pad_right = 1}\n" + what + "}\n";
}

TEST(Segments, AddUpRowsAsTheyCome) {
  const std::string seen = "  %3 \"s\" i8[1x192] quant(0.5, 3) = reshape(%2) {shape = [1, 192]}\n";
  for (const std::string& what :
       {std::string("  %4 \"d\" i8[1x1x1x4] quant(0.5, 3) = average_pool_2d(%2) {filter_h = 12, filter_w = 4}\n"),
        std::string("  %4 \"d\" i8[1x4] quant(0.1, 1) = mean(%2) {axes = [1, 2]}\n"),
        seen + "  %4 \"d\" i8[1x5] quant(2.5, 1) = fully_connected(%3, %5)\n"}) {
    Diagnostics diags;
    auto program = planned_by_rows(summed(what + "  output %4\n"), diags);
    ASSERT_TRUE(program.ok() && program->feeding) << diags.str();
    ASSERT_EQ(program->calls.size(), 1U) << what;
    // Three rows of the input, one of what is behind it, and the sums.
    EXPECT_LE(program->arena_bytes, 112);
    expect_rows_evaluated(*program);
    std::vector<uint8_t> input(192);
    for (size_t i = 0; i < input.size(); ++i) input[i] = static_cast<uint8_t>(i * 73 + i / 16);
    const auto values = ops::evaluate_graph(program->graph, {input});
    std::vector<uint8_t> result = fed_result(*program, input);
    EXPECT_EQ(result, values[static_cast<size_t>(program->graph.outputs[0].tensor.value)]) << what;
  }
  // What is seen in another shape may not be read behind the segment, and sums end it.
  const std::string connected = seen + "  %4 \"d\" i8[1x5] quant(2.5, 1) = fully_connected(%3, %5)\n";
  EXPECT_TRUE(rows_of_segment(parsed_chain(summed(connected + "  output %4\n")), {0, 2}));
  EXPECT_FALSE(rows_of_segment(parsed_chain(summed(connected + "  output %4\n")), {0, 1}));
  EXPECT_FALSE(rows_of_segment(parsed_chain(summed(connected + "  output %3\n")), {0, 2}));
}

// Float rows are quantised as they come.
TEST(Segments, QuantiseWhatIsFed) {
  Diagnostics diags;
  const std::string text =
      "graph \"g\" {\n  input %0 \"x\" f32[1x12x4x4]\n  %1 \"q\" i8[1x12x4x4] quant(0.5, 3) = "
      "quantize(%0)\n"
      "  %2 \"d\" i8[1x6x2x4] quant(0.5, 3) = max_pool_2d(%1) {filter_h = 2, filter_w = 2, "
      "stride_h = 2, stride_w = 2}\n"
      "  output %2\n}\n";
  auto program = planned_by_rows(text, diags);
  ASSERT_TRUE(program.ok() && program->feeding) << diags.str();
  EXPECT_EQ(program->calls.size(), 1U);
  EXPECT_EQ(program->feeding->row_bytes, 64);
  EXPECT_FALSE(program->feeding->prepares);
  std::vector<float> numbers(192);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 23) * 0.37F - 4;
  std::vector<uint8_t> input(numbers.size() * 4);
  std::memcpy(input.data(), numbers.data(), input.size());
  const auto values = ops::evaluate_graph(program->graph, {input});
  EXPECT_EQ(fed_result(*program, input), values[static_cast<size_t>(program->graph.outputs[0].tensor.value)]);
}

TEST(Segments, SayWhyTheyCannotBeFed) {
  auto why = [](const std::string& text) {
    Diagnostics diags;
    EXPECT_FALSE(planned_by_rows(text, diags).ok());
    return diags.str();
  };
  const std::string begin = "graph \"g\" {\n  input %0 \"x\" i8[1x12x4x4] quant(0.5, 3)\n", end = "  output %1\n}\n";
  EXPECT_NE(why(begin + "  %1 \"t\" i8[1x4x12x4] quant(0.5, 3) = transpose(%0) {order = [0, 2, 1, 3]}\n" + end)
                .find("needs more than some rows of the input"),
            std::string::npos);
  EXPECT_NE(why(begin +
                "  input %2 \"y\" i8[1x12x4x4] quant(0.5, 3)\n  %1 \"s\" i8[1x12x4x4] quant(0.5, "
                "3) = add(%0, %2)\n" +
                end)
                .find("the model has 2 inputs"),
            std::string::npos);
  EXPECT_NE(why(chain("  %7 \"e\" i8[1x12x4x4] quant(0.5, 3) = add(%0, %0)\n", "  output %6\n  output %7\n"))
                .find("other operators read the input"),
            std::string::npos);
}

TEST(Segments, SayThatRowsBeginBetweenWords) {
  Diagnostics diags;
  EXPECT_FALSE(planned_by_rows("graph \"g\" {\n  input %0 \"x\" i8[1x12x3x1] quant(0.5, 3)\n"
                               "  %1 \"y\" i8[1x12x3x1] quant(0.5, 3) = relu(%0)\n  output %1\n}\n",
                               diags)
                   .ok());
  EXPECT_NE(diags.str().find("of 3 and 3 bytes, would not begin at words"), std::string::npos) << diags.str();
}

// Convolutions of three and four frames, and what is made of their result.
graph::Graph frames_graph(const std::string& attributes, int64_t rows) {
  return parsed_chain(fmt::format(
      "graph \"g\" {{\n  input %0 \"x\" i8[1x6x1x4] quant(0.5, 3)\n"
      "  const %1 \"v\" i8[1x3x1x4] quant(0.1, 0) = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]\n"
      "  const %2 \"w\" i8[1x4x1x4] quant(0.1, 0) = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]\n"
      "  %3 \"a\" i8[1x{0}x1x4] quant(0.5, 3) = depthwise_conv_2d(%0, %1) {{{1}}}\n"
      "  %4 \"b\" i8[1x{2}x1x4] quant(0.5, 3) = depthwise_conv_2d(%3, %2)\n  output %4\n}}\n",
      rows, attributes, rows - 3));
}

TEST(Segments, GoOnInTime) {
  const auto rows = frames_of_segment(frames_graph("", 4), {0, 1});
  ASSERT_TRUE(rows && rows->frames);
  EXPECT_EQ(rows->frames->first, 6);
  EXPECT_EQ(rows->frames->step, 1);
  EXPECT_EQ(rows->frames->period, 1);
  EXPECT_EQ(rows->schedule.slots, (std::vector<int64_t>{3, 4, 0}));
  std::string why;
  size_t blamed = 9;
  EXPECT_FALSE(frames_of_segment(frames_graph("pad_top = 1", 5), {0, 1}, &why, &blamed));
  EXPECT_EQ(why, "its result has 2 rows of time");
  EXPECT_EQ(blamed, 1U);
  EXPECT_FALSE(frames_of_segment(frames_graph("pad_top = 1, stride_h = 1, pad_bottom = 1, dilation_h = 2", 4), {0, 1},
                                 &why, &blamed));
  EXPECT_EQ(why, "the result depends on its padding before the first frame of a window");
  EXPECT_EQ(blamed, 0U);
}

// The arena of one operator between the caller's buffers is the frames it keeps, once.
TEST(Segments, FramesOfOneOperatorAreTheArena) {
  PlanOptions options;
  options.feed = true;
  options.stream = {Stream::kTime};
  Diagnostics diags;
  auto program =
      plan_program(parsed_chain("graph \"g\" {\n  input %0 \"x\" i8[1x3x1x4] quant(0.5, 3)\n"
                                "  const %1 \"v\" i8[1x3x1x4] quant(0.1, 0) = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]\n"
                                "  %2 \"a\" i8[1x1x1x4] quant(0.5, 3) = depthwise_conv_2d(%0, %1)\n  output %2\n}\n"),
                   options, diags);
  ASSERT_TRUE(program.ok() && program->feeding) << diags.str();
  EXPECT_EQ(program->feeding->period, 1);
  EXPECT_GE(program->feeding->kept_bytes, 12);
  EXPECT_EQ(program->arena_bytes, program->feeding->kept_bytes);
}

TEST(Segments, TextOfTheirFunctionsReadsBack) {
  PlanOptions options;
  options.stream = {Stream::kMax};
  options.arrangement = Arrangement{.segments = {{0, 3}}};
  Diagnostics diags;
  auto program = plan_program(parsed_chain(chain()), options, diags);
  ASSERT_TRUE(program.ok()) << diags.str();
  const std::string text = tir::print(*program->functions[0].body);
  EXPECT_NE(text.find("trace 1 16 &"), std::string::npos) << text;
  auto again = tir::parse(text, "text", diags);
  ASSERT_TRUE(again.ok() && tir::verify(**again, diags)) << diags.str();
  EXPECT_EQ(tir::print(**again), text);
}

}  // namespace
}  // namespace aotc::plan
