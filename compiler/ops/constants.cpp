// SPDX-License-Identifier: Apache-2.0
#include "ops/constants.h"

#include <algorithm>

namespace aotc::ops {

namespace {

// Operands whose work is not estimated, if the operator counts no multiplications.
constexpr int64_t kSmallBytes = 4096;

int64_t operand_bytes(const OpView& op) {
  int64_t bytes = 0;
  for (size_t i = 0; i < op.operand_count(); ++i)
    if (op.constant(i) != nullptr) bytes += op.operand(i).bytes();
  return bytes;
}

int64_t result_bytes(const OpView& op) {
  int64_t bytes = 0;
  for (size_t i = 0; i < op.op.results.size(); ++i) bytes += op.result(i).bytes();
  return bytes;
}

}  // namespace

// A loop over constants may never end.
bool may_evaluate(const OpView& op) {
  return !definition_of(op.op).traits().external && !op.op.results.empty() && op.op.regions.empty();
}

bool can_evaluate(const OpView& op) {
  const Traits traits = definition_of(op.op).traits();
  if (!may_evaluate(op)) return false;
  for (size_t i = 0; i < op.operand_count(); ++i)
    if (op.has_operand(i) && op.constant(i) == nullptr && !traits.reads_shapes_only) return false;
  return true;
}

int64_t growth_of(const OpView& op) { return result_bytes(op) - operand_bytes(op); }

int64_t steps_of(const OpView& op) {
  const Operator& definition = definition_of(op.op);
  Traits traits = definition.traits();
  int64_t in = operand_bytes(op), out = result_bytes(op), macs = definition.macs(op);
  // Operators that count no multiplications may still read every operand byte for every result
  // (pooling, mean): small ones may, large ones are assumed to.
  bool cheap = traits.elementwise || traits.view || !definition.has_lowering(op) || in <= kSmallBytes;
  if (macs == 0 && !cheap) {
    if (out > INT64_MAX / 2 / std::max<int64_t>(in, 1)) return INT64_MAX;
    macs = out * in;
  }
  return macs + in + out;
}

void evaluate_to_constants(graph::Graph& graph, const graph::Op& op) {
  Traits traits = definition_of(op).traits();
  if (traits.view) {
    graph[op.results[0]].constant = graph[op.operands[0]].constant;
    return;
  }
  // Copies, because constants in a file may lie at any alignment.
  std::vector<std::vector<uint8_t>> operands;
  std::vector<std::vector<uint8_t>> results;
  for (graph::TensorId id : op.operands) {
    operands.emplace_back();
    if (!id.valid() || !graph[id].constant) continue;
    std::span<const uint8_t> bytes = graph[id].constant->bytes;
    operands.back().assign(bytes.begin(), bytes.end());
  }
  for (graph::TensorId id : op.results) results.emplace_back(static_cast<size_t>(graph[id].type.bytes()));
  EvalData data;
  data.operands.assign(operands.begin(), operands.end());
  data.results.assign(results.begin(), results.end());
  evaluate_op(graph, op, data);
  for (size_t i = 0; i < results.size(); ++i) graph[op.results[i]].constant = graph::own_bytes(std::move(results[i]));
}

}  // namespace aotc::ops
