// SPDX-License-Identifier: Apache-2.0
// Passes that replace or remove one operator or a pair of operators.
#include "passes/exhaustive.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace aotc::passes {

using graph::Graph;
using graph::Op;
using graph::TensorId;

Status generalize(Graph& graph, const PassOptions&, Diagnostics&) {
  for (Op& op : graph.ops) {
    auto general = ops::definition_of(op).generalized(graph, op);
    if (!general || !is_valid(graph, *general)) continue;
    general->device = op.device;
    op = std::move(*general);
  }
  return success();
}

namespace {

bool is_view(const Op& op) { return ops::definition_of(op).traits().view; }

// A view may look through the view before it when its own shape inference still agrees: always true
// of reshape, not of operators whose result shape depends on the operand's.
void look_through_views(Graph& graph, const std::vector<int>& definer, Op& op) {
  if (!is_view(op)) return;
  while (op.operands[0].valid()) {
    int before = definer[static_cast<size_t>(op.operands[0].value)];
    if (before < 0 || !is_view(graph.ops[static_cast<size_t>(before)])) return;
    if (graph.ops[static_cast<size_t>(before)].device != op.device) return;
    Op candidate = op;
    candidate.operands[0] = graph.ops[static_cast<size_t>(before)].operands[0];
    if (!is_valid(graph, candidate)) return;
    op = std::move(candidate);
  }
}

bool changes_nothing(const Graph& graph, const Op& op) {
  if (op.results.size() != 1 || op.operands.empty() || !op.operands[0].valid()) return false;
  const graph::TensorType& type = graph[op.results[0]].type;
  if (graph[op.operands[0]].type != type) return false;
  const auto* fusable = ops::definition_of(op).as<ops::Fusable>();
  if (is_view(op) || (fusable != nullptr && fusable->is_identity({graph, op}))) return true;
  return size_of(type.dtype) == 1 && is_identity_on_all_values(graph, {&op});
}

}  // namespace

Status remove_identities(Graph& graph, const PassOptions&, Diagnostics&) {
  std::vector<int> definer = graph::compute_use_def(graph).definer;
  std::vector<bool> dead(graph.ops.size(), false);
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    Op& op = graph.ops[i];
    look_through_views(graph, definer, op);
    dead[i] = changes_nothing(graph, op) && replace_uses(graph, op.results[0], op.operands[0]);
  }
  remove_ops(graph, dead);
  return success();
}

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
