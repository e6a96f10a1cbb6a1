// SPDX-License-Identifier: Apache-2.0
#include "passes/constant_folding.h"

#include <algorithm>

#include "passes/rewrite.h"

namespace aotc::passes {

using graph::Graph;
using graph::Op;
using graph::TensorId;

namespace {

// A result may be this large whatever it is made from...
constexpr int64_t kAlwaysBytes = 1024;
// ...and otherwise this many times its operands: dequantised weights are 4 times the quantised.
constexpr int64_t kMaxGrowth = 4;
// Operands whose work is not estimated, if the operator counts no multiplications.
constexpr int64_t kSmallBytes = 4096;
// Steps (multiplications, and bytes read and written) that all folding together may take: about a
// second. Folded tensors are also kept to the end of the pass, so this bounds their memory.
constexpr int64_t kMaxSteps = int64_t{1} << 27;

bool may_fold(const Graph& graph, const Op& op, int64_t& steps_left) {
  if (ops::definition_of(op).traits().external) return false;
  int64_t operand_bytes = 0;
  for (TensorId id : op.operands) {
    if (!id.valid()) continue;
    if (!graph.is_constant(id)) return false;
    operand_bytes += graph[id].type.bytes();
  }
  int64_t result_bytes = 0;
  for (TensorId id : op.results) {
    if (graph[id].is_variable || is_output(graph, id)) return false;
    result_bytes += graph[id].type.bytes();
  }
  if (op.results.empty() || result_bytes > std::max(kAlwaysBytes, kMaxGrowth * operand_bytes))
    return false;
  int64_t macs = ops::definition_of(op).macs({graph, op});
  // Operators that count no multiplications may still read every operand byte for every result
  // (pooling, mean): small ones may, large ones are assumed to.
  bool cheap = ops::definition_of(op).traits().elementwise || ops::definition_of(op).traits().view ||
               operand_bytes <= kSmallBytes;
  if (macs == 0 && !cheap) {
    if (result_bytes > steps_left / operand_bytes) return false;
    macs = result_bytes * operand_bytes;
  }
  if (macs > steps_left || operand_bytes + result_bytes > steps_left - macs) return false;
  steps_left -= macs + operand_bytes + result_bytes;
  return true;
}

void fold(Graph& graph, const Op& op) {
  if (ops::definition_of(op).traits().view) {
    graph[op.results[0]].constant = graph[op.operands[0]].constant;
    return;
  }
  // Copies, because constants in a file may lie at any alignment.
  std::vector<std::vector<uint8_t>> operands;
  std::vector<std::vector<uint8_t>> results;
  for (TensorId id : op.operands) {
    operands.emplace_back();
    if (!id.valid()) continue;
    std::span<const uint8_t> bytes = graph[id].constant->bytes;
    operands.back().assign(bytes.begin(), bytes.end());
  }
  for (TensorId id : op.results) results.emplace_back(static_cast<size_t>(graph[id].type.bytes()));
  ops::EvalData data;
  data.operands.assign(operands.begin(), operands.end());
  data.results.assign(results.begin(), results.end());
  ops::evaluate_op(graph, op, data);
  for (size_t i = 0; i < results.size(); ++i)
    graph[op.results[i]].constant = graph::own_bytes(std::move(results[i]));
}

}  // namespace

Status fold_constants(Graph& graph, const PassOptions&, Diagnostics&) {
  std::vector<bool> dead(graph.ops.size(), false);
  int64_t steps_left = kMaxSteps;
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    if (!may_fold(graph, graph.ops[i], steps_left)) continue;
    fold(graph, graph.ops[i]);
    dead[i] = true;
  }
  remove_ops(graph, dead);
  return success();
}

}  // namespace aotc::passes
