// SPDX-License-Identifier: Apache-2.0
#include "passes/remove_conversions.h"

#include "passes/exhaustive.h"
#include "passes/rewrite.h"

namespace aotc::passes {

using graph::Graph;
using graph::Op;

namespace {

bool is_conversion(const Op& op) { return ops::definition_of(op).traits().conversion; }

bool there_and_back(const Graph& graph, const Op& first, const Op& second, const PassOptions& options) {
  if (!is_unary(first) || !is_unary(second)) return false;
  if (graph[first.operands[0]].type != graph[second.results[0]].type) return false;
  if (options.remove_rounding && is_conversion(first) && is_conversion(second)) return true;
  return is_identity_on_all_values(graph, {&first, &second});
}

}  // namespace

Status remove_conversions(Graph& graph, const PassOptions& options, Diagnostics&) {
  std::vector<int> definer = graph::compute_use_def(graph).definer;
  std::vector<bool> dead(graph.ops.size(), false);
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    const Op& second = graph.ops[i];
    if (second.operands.empty() || !second.operands[0].valid()) continue;
    int before = definer[static_cast<size_t>(second.operands[0].value)];
    if (before < 0) continue;
    const Op& first = graph.ops[static_cast<size_t>(before)];
    dead[i] =
        there_and_back(graph, first, second, options) && replace_uses(graph, second.results[0], first.operands[0]);
  }
  remove_ops(graph, dead);
  return success();
}

}  // namespace aotc::passes
