// SPDX-License-Identifier: Apache-2.0
#include "plan/row_operator.h"

#include <algorithm>

#include "cores/instruction_counter.h"
#include "ops/operator.h"

namespace aotc::plan {

using graph::TensorId;

namespace {

// So many rows of an image, of which `unit` are one of it: pixels that are no whole rows are one row of their own.
void resize(graph::Shape& shape, int64_t rows, int64_t unit) {
  shape[1] = rows % unit == 0 ? rows / unit : 1;
  if (rows % unit != 0) shape[2] = rows;
}

}  // namespace

RowOperator::RowOperator(const graph::Graph& from, const SegmentRows& rows, size_t stage, int64_t count)
    : op(from.ops[rows.ops[stage]]),
      whole{from, from.ops[rows.ops[stage]]},
      calls(std::max(1.0, static_cast<double>(rows.tensors[rows.stages[stage].result].rows / count))) {
  const RowStage& s = rows.stages[stage];
  graph.name = from.name;
  graph.source_file = from.source_file;
  size_t read = 0;
  for (TensorId& id : op.operands) {
    if (!id.valid()) continue;
    graph::Tensor tensor = from[id];
    if (!tensor.constant) {
      resize(tensor.type.shape, s.rows_read(read, count), rows.units[s.reads[read].tensor]);
      ++read;
    }
    id = graph.add_tensor(std::move(tensor));
  }
  graph::Tensor result = from[op.results[0]];
  resize(result.type.shape, count, rows.units[s.result]);
  op.results[0] = graph.add_tensor(std::move(result));
  op.attributes = ops::attributes_for_rows(whole);
}

ops::Lowered RowOperator::lower(const ops::TargetInfo& of_all) const {
  const ops::OpView row{graph, op};
  ops::TargetInfo target = of_all;
  target.whole = &whole;
  target.calls = calls;
  ops::Lowered own = ops::lower(row, target);
  if (!target.lowerings || own.external) return own;
  ops::TargetInfo plain = target;
  plain.lowerings = nullptr;
  ops::Lowered portable = ops::lower(row, plain);
  return cores::cost_of(portable, target).instructions < cores::cost_of(own, target).instructions ? portable : own;
}

}  // namespace aotc::plan
