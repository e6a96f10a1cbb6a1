// SPDX-License-Identifier: Apache-2.0
#include "passes/exhaustive.h"

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
const TensorType& result_type(const Graph& graph, const Op& op) { return graph[op.results[0]].type; }

// The op alone, over tensors of `count` elements in a row.
struct RowOp {
  Graph graph;

  RowOp(const Op& op, const TensorType& from, const TensorType& to, int64_t count) {
    for (const TensorType* type : {&from, &to}) {
      graph::Tensor tensor;
      tensor.type = *type;
      tensor.type.shape = {count};
      graph.add_tensor(std::move(tensor));
    }
    graph.ops.push_back(op);
    graph.ops[0].operands = {TensorId{0}};
    graph.ops[0].results = {TensorId{1}};
  }
};

}  // namespace

std::optional<std::vector<uint8_t>> evaluate_all_values(const Graph& graph, const std::vector<const Op*>& chain) {
  for (const Op* op : chain)
    if (!is_unary(*op) || !ops::definition_of(*op).traits().elementwise ||
        operand_type(graph, *op).quantization.per_channel() || result_type(graph, *op).quantization.per_channel())
      return std::nullopt;
  DType type = operand_type(graph, *chain.front()).dtype;
  std::vector<uint8_t> values = all_values(type);
  if (values.empty()) return std::nullopt;
  int64_t count = static_cast<int64_t>(values.size()) / size_of(type);
  for (const Op* op : chain) {
    RowOp row(*op, operand_type(graph, *op), result_type(graph, *op), count);
    if (!is_valid(row.graph, row.graph.ops[0])) return std::nullopt;
    std::vector<uint8_t> results(static_cast<size_t>(count * size_of(result_type(graph, *op).dtype)));
    ops::evaluate_op(row.graph, row.graph.ops[0], {{values}, {results}});
    values = std::move(results);
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
