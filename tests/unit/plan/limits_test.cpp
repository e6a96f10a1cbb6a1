// SPDX-License-Identifier: Apache-2.0
// Models beyond what any microcontroller holds end in a located error, or in less optimisation,
// soon.
#include <gtest/gtest.h>

#include "../frontends/tflite_builder.h"
#include "frontends/tflite/reader.h"
#include "ops/operator.h"
#include "passes/pipeline.h"
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
  EXPECT_FALSE(plan::plan_program(read(many_alive(800)), {}, diags));
  ASSERT_EQ(diags.all().size(), 1u);
  EXPECT_EQ(diags.all()[0].slug, "plan-limit");
  EXPECT_EQ(diags.all()[0].location.file, "m.tflite");
}

TEST(PlanLimits, ConstantTables) {
  TestModel m;
  m.codes = {{kAdd}};
  constexpr int kElements = 9 << 20;
  m.tensors = {{.name = "in", .shape = {kElements}},
               {.name = "c", .shape = {kElements}},
               {.name = "out", .shape = {kElements}}};
  m.tensors[1].data.assign(size_t{kElements} * 4, 0);
  m.ops = {add(0, 1, 2)};
  m.inputs = {0};
  m.outputs = {2};
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
