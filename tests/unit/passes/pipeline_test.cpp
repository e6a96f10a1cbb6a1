// SPDX-License-Identifier: Apache-2.0
#include "passes/pipeline.h"

#include <set>

#include "test_operators.h"

namespace aotc::passes {
namespace {

constexpr char kGraph[] = R"(graph "g" {
  input %0 "x" f32[2]
  %1 "a" f32[2] = test_negate(%0)
  %2 "b" f32[2] = test_negate(%0)
  output %2
}
)";

TEST(Pipeline, PassesHaveDistinctNamesAndReasons) {
  std::set<std::string_view> names;
  for (const Pass& pass : pipeline()) {
    EXPECT_TRUE(names.insert(pass.name).second) << pass.name;
    EXPECT_FALSE(pass.reason.empty());
    EXPECT_EQ(find_pass(pass.name), &pass);
  }
  EXPECT_EQ(find_pass("no-such-pass"), nullptr);
}

TEST(Pipeline, RunsEveryPassInOrderAndTellsTheHooks) {
  graph::Graph graph = parse_graph(kGraph);
  Diagnostics diags;
  Names dumped;
  Names timed;
  RunOptions options;
  options.after = [&](const Pass& pass, const graph::Graph&) { dumped.emplace_back(pass.name); };
  options.timed = [&](const Pass& pass, std::chrono::nanoseconds time) {
    EXPECT_GE(time.count(), 0);
    timed.emplace_back(pass.name);
  };
  ASSERT_TRUE(run_pipeline(graph, options, diags)) << diags.str();
  Names wanted;
  for (const Pass& pass : pipeline()) wanted.emplace_back(pass.name);
  EXPECT_EQ(dumped, wanted);
  EXPECT_EQ(timed, wanted);
  EXPECT_EQ(graph.ops.size(), 1u);
  EXPECT_EQ(graph.tensors.size(), 2u);
}

TEST(Pipeline, IsIdempotent) {
  graph::Graph graph = parse_graph(kGraph);
  Diagnostics diags;
  ASSERT_TRUE(run_pipeline(graph, {}, diags));
  std::string once = graph::print(graph);
  ASSERT_TRUE(run_pipeline(graph, {}, diags));
  EXPECT_EQ(graph::print(graph), once);
}

TEST(Pipeline, ReportsAPassThatBreaksTheGraph) {
  graph::Graph graph = parse_graph(kGraph);
  Diagnostics diags;
  RunOptions options;
  options.verify_each = true;
  const Pass broken[] = {{"broken", "for this test", [](graph::Graph& g, const PassOptions&, Diagnostics&) {
                            g.ops.clear();
                            return success();
                          }}};
  EXPECT_FALSE(run_passes(graph, broken, options, diags));
  EXPECT_EQ(diags.str(),
            "t.air: tensor 'b': error: no operator defines output 0 [ir-invalid]\n"
            "t.air: error: pass 'broken' left a graph that does not verify [internal]\n"
            "  help: this is a bug in aotc; please report it with the model\n");
}

TEST(Pipeline, ReportsUnknownPasses) {
  Diagnostics diags;
  EXPECT_FALSE(parse_pass_list("dead-code,dead-cod,zzz", diags));
  EXPECT_EQ(diags.str(),
            "--pass: error: there is no pass 'dead-cod' [pass-unknown]\n"
            "  help: did you mean 'dead-code'?\n"
            "--pass: error: there is no pass 'zzz' [pass-unknown]\n");
  EXPECT_TRUE(parse_pass_list("", diags)->empty());
}

}  // namespace
}  // namespace aotc::passes
