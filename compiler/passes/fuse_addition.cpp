// SPDX-License-Identifier: Apache-2.0
#include "passes/fuse_addition.h"

#include "ops/common/activation.h"
#include "passes/rewrite.h"

namespace aotc::passes {

using graph::Graph;
using graph::Op;
using graph::TensorId;

namespace {

bool fuse(Graph& graph, Op& producer, const Op& op, TensorId added) {
  if (graph[producer.results[0]].type != graph[op.results[0]].type) return false;
  const auto* target = ops::definition_of(producer).as<ops::Fusable>();
  if (target == nullptr || !target->takes_addition({graph, producer})) return false;
  const std::string free = graph::attribute_text::print_any(ops::Activation::kUnbounded);
  const auto before = attribute(producer, "activation"), after = attribute(op, "activation");
  if (before != free || !after) return false;
  Op fused = producer;
  while (!fused.operands.empty() && !fused.operands.back().valid()) fused.operands.pop_back();
  fused.operands.push_back(graph::constant_as_list(graph, added));
  fused.attributes = with_attribute(*producer.attributes, "activation", *after);
  fused.results[0] = op.results[0];
  if (fused.attributes == nullptr || !is_valid(graph, fused)) return false;
  producer = std::move(fused);
  return true;
}

}  // namespace

Status fuse_addition(Graph& graph, const PassOptions&, Diagnostics&) {
  graph::UseDef chains = graph::compute_use_def(graph);
  std::vector<bool> dead(graph.ops.size(), false);
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    const Op op = graph.ops[i];
    const auto* fusable = ops::definition_of(op).as<ops::Fusable>();
    const auto constant = fusable != nullptr ? fusable->as_addition({graph, op}) : std::nullopt;
    if (!constant) continue;
    const int producer = sole_producer(graph, chains, op.operands[1 - *constant], static_cast<int>(i));
    if (producer < 0) continue;
    dead[i] = fuse(graph, graph.ops[static_cast<size_t>(producer)], op, op.operands[*constant]);
    if (dead[i]) chains.definer[static_cast<size_t>(op.results[0].value)] = producer;
  }
  remove_ops(graph, dead);
  return success();
}

}  // namespace aotc::passes
