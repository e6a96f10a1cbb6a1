// SPDX-License-Identifier: Apache-2.0
// Model schedules: their text and JSON, what a graph cannot have, and that a program's own schedule gives it again.
#include "plan/model_schedule.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "ops/operator.h"
#include "plan/program.h"
#include "plan/text.h"
#include "plan/windows.h"

namespace aotc::plan {
namespace {

using nlohmann::json;

graph::Graph graph_of_text(const std::string& text) {
  Diagnostics diags;
  auto graph = graph::parse(text, "test", ops::definition_lookup(), diags);
  EXPECT_TRUE(graph.ok()) << diags.str();
  return std::move(*graph);
}

// %3 reads %1 and %2, which do not read each other.
const char* const kTwoBranches =
    "graph \"g\" {\n  input %0 \"x\" f32[4]\n  %1 \"a\" f32[4] = neg(%0)\n  %2 \"b\" f32[4] = abs(%0)\n"
    "  %3 \"c\" f32[4] = add(%1, %2)\n  output %3\n}\n";

Arrangement arrangement_of(const std::string& text) {
  std::string problem;
  auto out = arrangement_from_json(json::parse(text), problem);
  EXPECT_TRUE(out) << problem;
  return out.value_or(Arrangement());
}

std::string json_problem(const std::string& text) {
  std::string problem;
  EXPECT_FALSE(arrangement_from_json(json::parse(text), problem)) << text;
  return problem;
}

TEST(ModelSchedule, HasTextAndJson) {
  const std::string text =
      R"({"order":[1,0,2],"windows":[0,3],"segments":[{"first":0,"last":1,"bands":[8,0]},{"first":2,"last":2}]})";
  const Arrangement read_back = arrangement_of(text);
  EXPECT_EQ(to_json(read_back).dump(), text);
  EXPECT_EQ(read_back.text(), "order 1 0 2; windows of states 0 3; rows 0-1, bands 8 0; rows 2-2");
  EXPECT_EQ(arrangement_of("{}"), Arrangement());
  EXPECT_EQ(to_json(Arrangement()).dump(), "{}");
  EXPECT_EQ(Arrangement().text(), "");
  EXPECT_EQ(Arrangement{.order = std::vector<int>(17)}.text(), "another order of 17 operators");
}

TEST(ModelSchedule, JsonOfAnotherFormIsRefused) {
  for (const char* text :
       {"[]", R"({"order": 1})", R"({"order": [-1]})", R"({"order": [1.5]})", R"({"order": [4294967296]})",
        R"({"windows": ["a"]})", R"({"segments": {}})", R"({"segments": [{"first": 0}]})",
        R"({"segments": [{"first": 0, "last": 1, "rows": 2}]})", R"({"segments": [{"first": 0, "last": -1}]})",
        R"({"segments": [{"first": 0, "last": 1, "bands": 3}]})", R"({"segment": []})"})
    EXPECT_NE(json_problem(text), "") << text;
}

TEST(ModelSchedule, OrdersTheOperators) {
  graph::Graph g = graph_of_text(kTwoBranches);
  std::string problem;
  ASSERT_TRUE(arrange(g, {.order = {1, 0, 2}}, problem)) << problem;
  EXPECT_EQ(g.ops[0].name(), "abs");
  EXPECT_EQ(g.ops[1].name(), "neg");
  const std::pair<std::vector<int>, const char*> wrong[] = {
      {{0, 2, 1}, "the order has operator 2 before operator 1, whose result it reads"},
      {{0, 1}, "the order has 2 operators, but the graph has 3"},
      {{0, 0, 2}, "the order lists operator 0, which it has already"},
      {{0, 1, 3}, "the order lists operator 3, which does not exist"}};
  for (const auto& [order, why] : wrong) {
    graph::Graph other = graph_of_text(kTwoBranches);
    EXPECT_FALSE(arrange(other, {.order = order}, problem));
    EXPECT_EQ(problem, why);
  }
  graph::Graph stateless = graph_of_text(kTwoBranches);
  EXPECT_FALSE(arrange(stateless, {.windows = {0}}, problem));
  EXPECT_EQ(problem, "0 of the states 0 can keep a window");
}

TEST(ModelSchedule, WhatAGraphCannotHaveIsAnError) {
  for (const Arrangement& impossible :
       {Arrangement{.order = {2, 1, 0}}, Arrangement{.segments = {{1, 0}}}, Arrangement{.segments = {{0, 3}}},
        Arrangement{.segments = {{1, 2}, {0, 1}}}, Arrangement{.segments = {{0, 1, {1, 1, 1}}}},
        Arrangement{.segments = {{0, 2}}}}) {
    PlanOptions options;
    options.arrangement = impossible;
    Diagnostics diags;
    EXPECT_FALSE(plan_program(graph_of_text(kTwoBranches), options, diags)) << impossible.text();
    EXPECT_NE(diags.str().find("[arrangement-impossible]"), std::string::npos) << diags.str();
  }
}

TEST(ModelSchedule, ThatOfAProgramGivesItAgain) {
  PlanOptions options;
  Diagnostics diags;
  auto program = plan_program(graph_of_text(kTwoBranches), options, diags);
  ASSERT_TRUE(program) << diags.str();
  options.arrangement = program->schedule.arrangement;
  auto again = plan_program(graph_of_text(kTwoBranches), options, diags);
  ASSERT_TRUE(again) << diags.str();
  EXPECT_EQ(print(*program, {}), print(*again, {}));
  options.arrangement = Arrangement{.order = {1, 0, 2}};
  auto other = plan_program(graph_of_text(kTwoBranches), options, diags);
  ASSERT_TRUE(other) << diags.str();
  EXPECT_NE(print(*program, {}), print(*other, {}));
}

// One operator of the file became three: a schedule is for one of them, or for those that can have it.
TEST(ModelSchedule, PartsOfAnOperatorHaveTheirOwn) {
  graph::Graph g = graph_of_text(
      "graph \"g\" {\n  input %0 \"x\" f32[1x4x4x4]\n  const %1 \"w\" f32[4x1x1x4] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, "
      "3, 4, 5, 6, 7]\n  %2 \"a\" f32[1x4x4x4] = neg(%0)\n  %3 \"b\" f32[1x4x4x4] = conv_2d(%2, %1)\n"
      "  %4 \"c\" f32[1x4x4x4] = conv_2d(%3, %1)\n  output %4\n}\n");
  for (graph::Op& op : g.ops) op.location.op_index = 7;
  EXPECT_EQ(parts_of(g), (std::vector<int>{0, 1, 2}));
  g.ops[0].location.op_index = 6;
  EXPECT_EQ(parts_of(g), (std::vector<int>{-1, 0, 1}));
  g.ops[0].location.op_index = 7;
  auto pixels = [&](const ops::OperatorKey& key, int64_t asked) {
    PlanOptions options;
    options.schedules[key].numbers["pixels"] = asked;
    Diagnostics diags;
    auto program = plan_program(g, options, diags);
    std::vector<int64_t> out;
    if (!program) return std::pair(out, diags.str());
    for (const ProgramCall& call : program->calls)
      out.push_back(call.schedule.numbers.contains("pixels") ? call.schedule.numbers.at("pixels") : 0);
    return std::pair(out, diags.str());
  };
  EXPECT_EQ(pixels(7, 1).first, (std::vector<int64_t>{0, 1, 1}));
  const auto [one, said] = pixels({7, 2}, 1);
  ASSERT_EQ(one.size(), 3u) << said;
  EXPECT_EQ(one[2], 1);
  EXPECT_NE(one[1], 1);
  EXPECT_NE(pixels({7, 0}, 1).second.find("[schedule-impossible]"), std::string::npos);
  EXPECT_NE(pixels({7, 3}, 1).second.find("part 3 of operator 7, which is not compiled"), std::string::npos);
}

}  // namespace
}  // namespace aotc::plan
