// SPDX-License-Identifier: Apache-2.0
// Models beyond what any microcontroller holds end in a located error, or in less optimisation,
// soon.
#include <gtest/gtest.h>

#include "../frontends/tflite_builder.h"
#include "frontends/tflite/reader.h"
#include "ops/operator.h"
#include "passes/pipeline.h"
#include "plan/placement.h"
#include "plan/program.h"

namespace aotc {
namespace {

using namespace aotc::testing;

constexpr int kAdd = 0, kTanh = 28;

TestOp add(int32_t a, int32_t b, int32_t to) {
  return {.code = 0,
          .in = {a, b},
          .out = {to},
          .options_type = schema::BuiltinOptions_AddOptions,
          .options = [](FlatBufferBuilder& fbb) { return schema::CreateAddOptions(fbb).Union(); }};
}

graph::Graph read(const TestModel& model) {
  Diagnostics diags;
  auto graph = frontends::read_tflite(model.bytes(), "m.tflite", diags);
  EXPECT_TRUE(graph && ops::verify_graph(*graph, diags)) << diags.str();
  return graph ? *graph : graph::Graph{};
}

// `count` results of one input that all live until the last is computed, then added up.
TestModel many_alive(int count) {
  TestModel m;
  m.codes = {{kAdd}, {kTanh}};
  m.tensors.assign(static_cast<size_t>(2 * count), {.name = "t", .shape = {4}});
  m.inputs = {0};
  for (int i = 1; i <= count; ++i) m.ops.push_back({.code = 1, .in = {i - 1}, .out = {i}});
  int total = count;
  for (int i = 1; i < count; ++i) {
    m.ops.push_back(add(total, i, count + i));
    total = count + i;
  }
  m.outputs = {total};
  return m;
}

TEST(PlanLimits, TensorsAliveAtOnce) {
  Diagnostics diags;
  EXPECT_TRUE(plan::plan_program(read(many_alive(100)), {}, diags)) << diags.str();
  EXPECT_FALSE(plan::plan_program(read(many_alive(1100)), {}, diags));
  ASSERT_EQ(diags.all().size(), 1u);
  EXPECT_EQ(diags.all()[0].slug, "plan-limit");
  EXPECT_EQ(diags.all()[0].location.file, "m.tflite");
}

graph::Graph of_text(const std::string& text) {
  Diagnostics diags;
  auto graph = graph::parse(text, "g.air", ops::definition_lookup(), diags);
  EXPECT_TRUE(graph && ops::verify_graph(*graph, diags)) << diags.str();
  return graph ? std::move(*graph) : graph::Graph{};
}

// Of `inputs` inputs in the arena one is read; the others are gone behind the first call. What is said
// where the pairs are few enough is that there is no such schedule, which takes no packing.
std::string refused(int inputs, int calls) {
  std::string text = "graph \"g\" {\n";
  for (int i = 0; i < inputs; ++i) text += "  input %" + std::to_string(i) + " \"x\" f32[1]\n";
  for (int i = 0; i < calls; ++i)
    text += "  %" + std::to_string(inputs + i) + " \"y\" f32[1] = neg(%" + std::to_string(i == 0 ? 0 : inputs + i - 1) +
            ")\n";
  text += "  output %" + std::to_string(inputs + calls - 1) + "\n}\n";
  graph::Graph graph = of_text(text);
  graph.ops[0].location.op_index = 0;
  plan::PlanOptions options;
  options.inputs = options.outputs = plan::Contract::kOverwrite;
  options.schedules[0].algorithm = "none";
  Diagnostics diags;
  EXPECT_FALSE(plan::plan_program(std::move(graph), options, diags));
  return diags.str();
}

TEST(PlanLimits, InputsThatNobodyReadsAreAliveBeforeTheFirstCallOnly) {
  // 1449 * 1448 / 2 pairs of inputs, and the one that is read with the result, which is alive with the next.
  EXPECT_NE(refused(1449, 1).find(" 1049077 pairs of tensors"), std::string::npos) << refused(1449, 1);
  EXPECT_NE(refused(1449, 2).find(" 1049078 pairs of tensors"), std::string::npos) << refused(1449, 2);
}

TEST(PlanLimits, AsManyPairsAsAreAllowedAreNotTooMany) {
  // 1448 * 1447 / 2 pairs of inputs; each call is one more.
  constexpr int kCalls = static_cast<int>(plan::kMaxPairs - 1448 * 1447 / 2);
  EXPECT_NE(refused(1448, kCalls).find("[schedule-impossible]"), std::string::npos) << refused(1448, kCalls);
  EXPECT_NE(refused(1448, kCalls + 1).find(" 1048577 pairs of tensors"), std::string::npos);
}

TEST(PlanLimits, ConstantTables) {
  TestModel m;
  m.codes = {{kAdd}};
  // Tables of 48 MiB.
  constexpr int kElements = 12 << 20, kTables = 3;
  m.tensors.push_back({.name = "in", .shape = {kElements}});
  for (int i = 0; i < kTables; ++i) {
    m.tensors.push_back({.name = "c", .shape = {kElements}});
    m.tensors.back().data.assign(size_t{kElements} * 4, static_cast<uint8_t>(i));
    m.tensors.push_back({.name = "out", .shape = {kElements}});
    m.ops.push_back(add(2 * i, 2 * i + 1, 2 * i + 2));
  }
  m.inputs = {0};
  m.outputs = {2 * kTables};
  Diagnostics diags;
  EXPECT_FALSE(plan::plan_program(read(m), {}, diags));
  ASSERT_EQ(diags.all().size(), 1u);
  EXPECT_EQ(diags.all()[0].slug, "plan-limit");
  EXPECT_EQ(diags.all()[0].location.op_type, "ADD");
}

TEST(PlanLimits, FoldingStopsInTime) {
  TestModel m;
  m.codes = {{kAdd}, {kTanh}};
  constexpr int kElements = 1 << 20, kSteps = 40;
  m.tensors.assign(kSteps + 1, {.name = "c", .shape = {kElements}});
  m.tensors[0].data.assign(size_t{kElements} * 4, 0);
  for (int i = 0; i < kSteps; ++i) m.ops.push_back({.code = 1, .in = {i}, .out = {i + 1}});
  m.tensors.push_back({.name = "in", .shape = {1}});
  m.tensors.push_back({.name = "out", .shape = {kElements}});
  m.ops.push_back(add(kSteps + 1, kSteps, kSteps + 2));
  m.inputs = {kSteps + 1};
  m.outputs = {kSteps + 2};
  graph::Graph graph = read(m);
  Diagnostics diags;
  ASSERT_TRUE(passes::run_pipeline(graph, {}, diags)) << diags.str();
  EXPECT_GT(graph.ops.size(), 10u);
  EXPECT_LT(graph.ops.size(), 35u);
}

}  // namespace
}  // namespace aotc
