// SPDX-License-Identifier: Apache-2.0
#include "passes/exhaustive.h"

#include <algorithm>

#include "passes/rewrite.h"

namespace aotc::passes {

using graph::Graph;
using graph::Op;
using graph::TensorId;
using graph::TensorType;

std::vector<uint8_t> all_values(DType type) {
  std::vector<uint8_t> bytes;
  int width = size_of(type);
  if (!is_int(type) || width > 2) return bytes;
  IntRange range = int_range(type);
  for (int64_t value = range.min; value <= range.max; ++value)
    for (int i = 0; i < width; ++i) bytes.push_back(static_cast<uint8_t>(static_cast<uint64_t>(value) >> (8 * i)));
  return bytes;
}

namespace {

const TensorType& operand_type(const Graph& graph, const Op& op) { return graph[op.operands[0]].type; }
std::vector<uint8_t> copy_of(const graph::ConstantView& view) { return {view.bytes.begin(), view.bytes.end()}; }
const TensorType& result_type(const Graph& graph, const Op& op) { return graph[op.results[0]].type; }

}  // namespace

// Other operands of an elementwise operator are parameters; those of one that broadcasts must be single numbers.
bool works_by_element(const Graph& graph, const Op& op) {
  const ops::Operator& definition = ops::definition_of(op);
  const ops::Traits traits = definition.traits();
  if (op.results.size() != 1 || traits.may_fail || traits.external || traits.device_copy || !op.regions.empty())
    return false;
  if (graph[op.results[0]].type.quantization.per_channel()) return false;
  if (traits.elementwise) return true;
  const auto axes = ops::axis_flow({graph, op});
  return axes && axes->broadcasts && std::all_of(op.operands.begin(), op.operands.end(), [&](TensorId id) {
           return !id.valid() || !graph.is_constant(id) || graph[id].type.elements() == 1;
         });
}

std::optional<std::vector<uint8_t>> evaluate_rows(const Graph& graph, const Op& op, const Rows& rows) {
  Graph alone;
  ops::EvalData data;
  Op row = op;
  int64_t count = 0;
  // A tensor alone: a row, or a constant that is a parameter.
  auto add = [&](TensorId id, bool constant) {
    const graph::Tensor& from = graph[id];
    if (constant && from.type.elements() != 1) return alone.add_constant("", from.type, copy_of(*from.constant));
    TensorType type = from.type;
    type.shape = {constant ? 1 : count};
    if (constant) return alone.add_constant("", type, copy_of(*from.constant));
    graph::Tensor tensor;
    tensor.type = std::move(type);
    return alone.add_tensor(std::move(tensor));
  };
  for (TensorId id : op.operands)
    if (auto found = rows.find(id.value); id.valid() && found != rows.end())
      count = static_cast<int64_t>(found->second.size()) / size_of(graph[id].type.dtype);
  for (TensorId& id : row.operands) {
    if (!id.valid()) {
      data.operands.emplace_back();
      continue;
    }
    auto found = rows.find(id.value);
    const bool constant = found == rows.end();
    if (constant && !graph.is_constant(id)) return std::nullopt;
    id = add(id, constant);
    data.operands.push_back(constant ? alone[id].constant->bytes : std::span<const uint8_t>(found->second));
  }
  row.results[0] = add(op.results[0], false);
  alone.ops.push_back(row);
  if (!is_valid(alone, alone.ops[0])) return std::nullopt;
  std::vector<uint8_t> results(static_cast<size_t>(alone[row.results[0]].type.bytes()));
  data.results = {results};
  ops::evaluate_op(alone, alone.ops[0], data);
  return results;
}

std::optional<std::vector<uint8_t>> evaluate_all_values(const Graph& graph, const std::vector<const Op*>& chain) {
  for (const Op* op : chain)
    if (!is_unary(*op) || !ops::definition_of(*op).traits().elementwise ||
        operand_type(graph, *op).quantization.per_channel() || result_type(graph, *op).quantization.per_channel())
      return std::nullopt;
  DType type = operand_type(graph, *chain.front()).dtype;
  std::vector<uint8_t> values = all_values(type);
  if (values.empty()) return std::nullopt;
  for (const Op* op : chain) {
    auto results = evaluate_rows(graph, *op, {{op->operands[0].value, values}});
    if (!results) return std::nullopt;
    values = std::move(*results);
  }
  return values;
}

bool is_identity_on_all_values(const Graph& graph, const std::vector<const Op*>& chain) {
  const TensorType& from = operand_type(graph, *chain.front());
  if (from != result_type(graph, *chain.back())) return false;
  auto values = evaluate_all_values(graph, chain);
  return values && *values == all_values(from.dtype);
}

}  // namespace aotc::passes
