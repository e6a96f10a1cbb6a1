// SPDX-License-Identifier: Apache-2.0
// Windowed operators, fully connected and softmax given nonsense: located errors, never a crash.
#include <gtest/gtest.h>

#include "graph/graph.h"
#include "ops/operator.h"

namespace aotc::ops {
namespace {

struct Shapes {
  std::vector<graph::Shape> operands;
  graph::Shape result;
};

// Does the operator refuse (with a message) operands of these shapes?
bool refuses(const char* name, const Shapes& shapes,
             const std::vector<std::pair<const char*, const char*>>& attributes = {}) {
  const Operator* definition = operators().find(name);
  if (!definition) {
    ADD_FAILURE() << "no operator " << name;
    return false;
  }
  graph::Graph g;
  graph::Op op;
  op.definition = definition;
  auto attrs = definition->default_attributes();
  for (const auto& [field, value] : attributes) EXPECT_TRUE(attrs->parse(field, value)) << field;
  op.attributes = attrs;
  for (const graph::Shape& shape : shapes.operands) {
    graph::Tensor t;
    t.type.shape = shape;
    op.operands.push_back(g.add_tensor(t));
  }
  graph::Tensor t;
  t.type.shape = shapes.result;
  op.results.push_back(g.add_tensor(t));
  Diagnostics diags;
  OpView view{g, op};
  auto inferred = definition->infer(view, diags);
  if (inferred && *inferred == std::vector<graph::Shape>{shapes.result} && definition->verify(view, diags))
    return false;
  return !inferred || !diags.str().empty();
}

TEST(WindowOps, RefuseNonsense) {
  EXPECT_TRUE(refuses("depthwise_conv_2d", {{}, {}}));
  EXPECT_TRUE(refuses("depthwise_conv_2d", {{{1, 4, 4, 3}}, {}}));
  EXPECT_TRUE(refuses("depthwise_conv_2d", {{{1, 4, 4, 3}, {1, 9, 3, 3}}, {1, 1, 2, 3}}));
  EXPECT_TRUE(refuses("depthwise_conv_2d", {{{1, 4, 4, 3}, {1, 3, 3, 4}}, {1, 2, 2, 4}}));
  EXPECT_TRUE(refuses("depthwise_conv_2d", {{{1, 4, 4, 0}, {1, 3, 3, 0}}, {1, 2, 2, 0}}));
  EXPECT_TRUE(refuses("depthwise_conv_2d", {{{1, int64_t{1} << 40, 4, 1}, {1, 1, 1, 1}}, {1, 1, 1, 1}}));
  EXPECT_TRUE(refuses("fully_connected", {{{1, 7}, {3, 4}}, {1, 3}}));
  EXPECT_TRUE(refuses("fully_connected", {{{1, 0}, {3, 0}}, {1, 3}}));
  EXPECT_TRUE(refuses("fully_connected", {{{}, {3, 1}}, {1, 3}}));
  EXPECT_TRUE(refuses("fully_connected", {{{4, 3}, {5, 6}}, {4, 5}}, {{"keep_num_dims", "true"}}));
  for (const char* pool : {"average_pool_2d", "max_pool_2d"}) {
    EXPECT_TRUE(refuses(pool, {{{4, 4, 3}}, {4, 4, 3}}));
    EXPECT_TRUE(refuses(pool, {{{1, 4, 4, 3}}, {1, 4, 4, 3}}, {{"filter_h", "0"}}));
    EXPECT_TRUE(refuses(pool, {{{1, 4, 4, 3}}, {1, 4, 4, 3}}, {{"stride_w", "-1"}}));
    // The first window of a row would hold padding only.
    EXPECT_TRUE(refuses(pool, {{{1, 4, 4, 3}}, {1, 4, 6, 3}}, {{"pad_left", "2"}}));
    EXPECT_FALSE(refuses(pool, {{{1, 4, 4, 3}}, {1, 4, 4, 3}}));
  }
  EXPECT_TRUE(refuses("softmax", {{{}}, {}}));
  EXPECT_TRUE(refuses("softmax", {{{1, 0}}, {1, 0}}));
  EXPECT_TRUE(refuses("softmax", {{{1, 4}}, {1, 4}}, {{"beta", "-1"}}));
  EXPECT_FALSE(refuses("softmax", {{{1, 4}}, {1, 4}}));
}

}  // namespace
}  // namespace aotc::ops
