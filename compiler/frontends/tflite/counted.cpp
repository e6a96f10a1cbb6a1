// SPDX-License-Identifier: Apache-2.0
// Shapes of results: those that the operands decide, and those that the data decides (WHERE, UNIQUE). The latter have
// their largest shape here, and a count beside them. Only operators that keep rows separate may read such a tensor,
// because LiteRT computes only with the valid rows.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/tflite/operators.h"
#include "ops/constants.h"

namespace aotc::frontends {

namespace schema = tflite_schema;

// Where the file leaves a dimension of a result open, or gives it for other operands, the operands
// decide. Disagreements and operands that make no sense are left to the operator's own checks.
void OperatorReader::settle_shapes(size_t index, const graph::Op& op, Build& build) const {
  const schema::Operator& from = raw(index);
  Diagnostics unreported;
  ops::OpView view{build.graph, op};
  auto shapes = resolved_[index].definition->infer(view, unreported);
  if (!shapes || shapes->size() != op.results.size()) return;
  bool known = ops::can_evaluate(view);
  for (size_t i = 0; i < shapes->size() && i < length(from.outputs()); ++i) {
    const graph::Shape& inferred = (*shapes)[i];
    graph::TensorType& type = build.graph[op.results[i]].type;
    bool free = known || build.derived[static_cast<size_t>(op.results[i].value)] ||
                shape_may_become(*raw_tensor(from.outputs()->Get(static_cast<uint32_t>(i))), type.shape, inferred);
    if (!free || bounded_bytes(inferred, type.dtype) < 0) continue;
    const graph::Quantization& q = type.quantization;
    auto axis = static_cast<size_t>(q.axis);
    if (q.per_channel() && (axis >= inferred.size() || inferred[axis] != static_cast<int64_t>(q.scale.size())))
      continue;
    type.shape = inferred;
  }
}

bool OperatorReader::check_sizes(const graph::Op& op, const Build& build, Diagnostics& told) const {
  if (ops::can_evaluate({build.graph, op})) return true;
  for (graph::TensorId id : op.results) {
    const graph::Tensor& tensor = build.graph[id];
    if (tensor.type.bytes() > 0) continue;
    report_empty(told, source_.where_tensor(tensor.name), tensor.type.shape);
    return false;
  }
  return true;
}

// Room for the count. On a constant the number of rows is known, and the shape exact.
bool OperatorReader::connect_count(size_t index, Build& build, graph::Op& op, Diagnostics& told) {
  if (!resolved_[index].rule->counted || op.operands.empty() || !op.operands[0].valid() || op.results.empty() ||
      build.graph.is_constant(op.operands[0]))
    return true;
  if (source_.depth > 0) {
    told.error(op.location, "op-unsupported",
               "the number of rows of the result is known only when the model runs, but a subgraph cannot return such "
               "a tensor")
        .help("export the model without the branch, loop or composite around it");
    return false;
  }
  graph::TensorId& count = count_made_[index];  // an operator may be read twice
  if (!count.valid()) {
    graph::Tensor tensor;
    tensor.name = op.location.tensor + "_count";
    tensor.type.dtype = DType::kI32;
    tensor.type.shape = {1};
    count = build.graph.add_tensor(tensor);
    build.mark_added();
  }
  op.results.push_back(count);
  build.derived[static_cast<size_t>(op.results[0].value)] = true;
  return true;
}

// May the operator read what it reads? Then its results have as many rows that count.
bool OperatorReader::pass_count(size_t index, Build& build, const graph::Op& op, Diagnostics& told) {
  const Resolved& known = resolved_[index];
  if (known.rule != nullptr && known.rule->counted && count_made_.contains(index)) {
    mark_counted(index, build, op, {count_made_[index], true});
    return may_leave(build, op.operands[0], op.location, told);
  }
  const ops::OpView view{build.graph, op};
  for (size_t i = 0; i < op.operands.size(); ++i) {
    auto found = counted_.find(op.operands[i]);
    if (found == counted_.end()) continue;
    const ops::Traits traits = ops::definition_of(op).traits();
    const graph::Shape &from = view.operand(i).shape, &to = view.result().shape;
    const bool same_rows = !from.empty() && !to.empty() && from[0] == to[0];
    const bool in_place = i == 0 && (traits.view || (traits.elementwise && op.operands.size() == 1));
    // What is no index beyond the count must not become one.
    const bool by_index =
        found->second.zeros && known.rule != nullptr && known.rule->by_rows != nullptr && known.rule->by_rows(view, i);
    if (op.results.size() != 1 || !same_rows || !(in_place || by_index))
      return may_leave(build, op.operands[i], op.location, told);
    const bool zeros = found->second.zeros && in_place && (traits.view || op.name() == "cast");
    mark_counted(index, build, op, {found->second.count, zeros});
    return true;
  }
  return true;
}

// The result, and the file's own tensor where int8 stands for uint8.
void OperatorReader::mark_counted(size_t index, const Build& build, const graph::Op& op, const Counted& counted) {
  counted_[op.results[0]] = counted;
  counted_[build.ids[static_cast<size_t>(raw(index).outputs()->Get(0))]] = counted;
}

// Something else reads it: told, if not all of its rows count.
bool OperatorReader::may_leave(const Build& build, graph::TensorId id, const Location& at, Diagnostics& told) const {
  if (!id.valid() || !counted_.contains(id)) return true;
  told.error(at, "op-unsupported",
             fmt::format("the operator reads '{}', whose number of rows is known only when the model runs",
                         escape_for_display(build.graph[id].name)))
      .help(
          "only casts, reshapes that keep the rows, elementwise operators, and GATHER and GATHER_ND by these indices "
          "can read such a tensor; otherwise end the model with this tensor as an output, which has a count, and "
          "continue in your own code");
  return false;
}

// Outputs that have a count are followed by it.
void OperatorReader::add_counts(std::vector<graph::Port>& outputs) const {
  std::set<graph::TensorId> added;
  const size_t own = outputs.size();
  for (size_t i = 0; i < own; ++i) {
    auto found = counted_.find(outputs[i].tensor);
    if (found != counted_.end() && added.insert(found->second.count).second)
      outputs.push_back({found->second.count, outputs[i].name + "_count"});
  }
}

}  // namespace aotc::frontends
