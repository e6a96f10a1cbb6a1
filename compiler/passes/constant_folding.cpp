// SPDX-License-Identifier: Apache-2.0
#include "passes/pass.h"

#include <algorithm>

#include <fmt/format.h>

#include "ops/constants.h"
#include "passes/rewrite.h"

namespace aotc::passes {

using graph::Graph;
using graph::Op;

namespace {

// Steps (multiplications, and bytes read and written) that all folding together may take: about a
// second. Folded tensors are also kept to the end of the pass, so this bounds their memory.
constexpr int64_t kMaxSteps = int64_t{1} << 27;

bool may_fold(const Graph& graph, const Op& op, int64_t& steps_left) {
  ops::OpView view{graph, op};
  // An output's bytes are the caller's, so somebody has to write them.
  bool output =
      std::any_of(op.results.begin(), op.results.end(), [&](graph::TensorId id) { return graph.is_output(id); });
  if (output || !ops::can_evaluate(view)) return false;
  if (ops::definition_of(op).has_lowering(view) && ops::growth_of(view) > ops::kMostGrowth) return false;
  int64_t steps = ops::steps_of(view);
  if (steps > steps_left) return false;
  steps_left -= steps;
  return true;
}

// What has no lowering and could not be computed.
Status refuse_the_rest(const Graph& graph, Diagnostics& diags) {
  bool good = true;
  for (const Op& op : graph.ops) {
    if (ops::definition_of(op).has_lowering({graph, op})) continue;
    diags
        .error(op.location, "op-unsupported",
               fmt::format("{} is supported only on constants, but its operands are computed when the model runs, or "
                           "are too large",
                           op.name()))
        .help("'aotc ops' lists the operators that can replace this one");
    good = false;
  }
  return good ? success() : Status(kFailure);
}

}  // namespace

Status fold_constants(Graph& graph, const PassOptions&, Diagnostics& diags) {
  std::vector<bool> dead(graph.ops.size(), false);
  int64_t steps_left = kMaxSteps;
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    if (!may_fold(graph, graph.ops[i], steps_left)) continue;
    ops::evaluate_to_constants(graph, graph.ops[i]);
    dead[i] = true;
  }
  remove_ops(graph, dead);
  return refuse_the_rest(graph, diags);
}

}  // namespace aotc::passes
