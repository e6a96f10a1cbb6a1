// SPDX-License-Identifier: Apache-2.0
// Replaces STABLEHLO_COMPOSITE by the operators of its decomposition. LiteRT runs them as well; the composite's name
// and attributes are only for delegates.
#include <fmt/format.h>

#include "frontends/tflite/builtin_names.h"
#include "frontends/tflite/operators.h"
#include "frontends/tflite/region.h"

namespace aotc::frontends {

void OperatorReader::build_composite(size_t index, Build& build) {
  Diagnostics told;
  const bool good = inline_composite(index, build, told);
  skip(index, build);
  if (!good) failed_.push_back({index, std::move(told)});
}

bool OperatorReader::inline_composite(size_t index, Build& build, Diagnostics& told) {
  graph::Op op;
  if (!connect(index, build, op, told)) return false;
  const std::vector<int> subgraphs = subgraphs_of(raw(index));
  const size_t count = length(source_.model->subgraphs());
  if (subgraphs.size() != 1 || subgraphs[0] < 0 || static_cast<size_t>(subgraphs[0]) >= count ||
      subgraphs[0] == source_.subgraph_index)
    return damaged(told, op.location, "the decomposition subgraph is missing");
  if (source_.depth >= graph::kMostDepth)
    return damaged(told, op.location, fmt::format("the subgraphs are nested more than {} deep", graph::kMostDepth));
  graph::Graph region;
  return read_composite(op, subgraphs[0], build, region, told) && splice(op, region, build, told);
}

bool OperatorReader::read_composite(const graph::Op& op, int subgraph, const Build& build, graph::Graph& region,
                                    Diagnostics& told) {
  RegionRequest request;
  request.subgraph = subgraph;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    if (!op.operands[i].valid()) return damaged(told, op.location, fmt::format("operand {} is missing", i));
    request.arguments.push_back(build.graph[op.operands[i]].type);
    request.constants.push_back(build.graph[op.operands[i]].constant);
  }
  Diagnostics* outer = source_.diags;
  source_.diags = &told;
  const bool good = read_region(source_, set_, request, region);
  source_.diags = outer;
  if (!good) return false;
  auto differ = [&](const char* what, size_t i) {
    return damaged(told, op.location,
                   fmt::format("{} {} has a different type or quantisation in subgraph {}", what, i, subgraph));
  };
  if (region.outputs.size() != op.results.size())
    return damaged(told, op.location,
                   fmt::format("subgraph {} has {} outputs, but the operator has {}", subgraph, region.outputs.size(),
                               op.results.size()));
  for (size_t i = 0; i < op.operands.size(); ++i) {
    const graph::TensorType &inner = region[region.inputs[i].tensor].type, &given = request.arguments[i];
    if (inner.dtype != given.dtype || inner.quantization != given.quantization) return differ("operand", i);
  }
  for (size_t i = 0; i < op.results.size(); ++i) {
    const graph::TensorType &inner = region[region.outputs[i].tensor].type, &given = build.graph[op.results[i]].type;
    if (inner.dtype != given.dtype || inner.quantization != given.quantization) return differ("result", i);
  }
  return true;
}

bool OperatorReader::splice(const graph::Op& op, graph::Graph& region, Build& build, Diagnostics& told) {
  std::vector<graph::TensorId> ids(region.tensors.size());
  auto id_of = [&](graph::TensorId id) -> graph::TensorId& { return ids[static_cast<size_t>(id.value)]; };
  for (size_t i = 0; i < op.operands.size(); ++i) id_of(region.inputs[i].tensor) = op.operands[i];
  for (size_t i = 0; i < op.results.size(); ++i) {
    const graph::TensorId inner = region.outputs[i].tensor;
    build.graph[op.results[i]].type.shape = region[inner].type.shape;
    if (!id_of(inner).valid() && !region[inner].constant) id_of(inner) = op.results[i];
  }
  for (size_t t = 0; t < ids.size(); ++t)
    if (!ids[t].valid()) ids[t] = build.graph.add_tensor(std::move(region.tensors[t]));
  auto add = [&](graph::Op made) {
    build.graph.ops.push_back(std::move(made));
    build.folded.push_back(false);
  };
  for (graph::Op& inner : region.ops) {
    for (auto* list : {&inner.operands, &inner.results})
      for (graph::TensorId& id : *list)
        if (id.valid()) id = id_of(id);
    add(std::move(inner));
  }
  build.mark_added();
  // An output that is an input, a constant, or another output as well: the same bytes under its name.
  for (size_t i = 0; i < op.results.size(); ++i) {
    const graph::TensorId from = id_of(region.outputs[i].tensor);
    if (from == op.results[i]) continue;
    graph::Op view;
    view.definition = set_.find("reshape");
    view.location = op.location;
    auto attributes = view.definition->default_attributes();
    attributes->parse("shape", graph::attribute_text::print(build.graph[from].type.shape));
    view.attributes = std::move(attributes);
    view.operands = {from};
    view.results = {op.results[i]};
    if (!ops::verify_op({build.graph, view}, told)) return false;
    add(std::move(view));
  }
  return true;
}

}  // namespace aotc::frontends
