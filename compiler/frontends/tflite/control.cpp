// SPDX-License-Identifier: Apache-2.0
// IF and WHILE: the half of OperatorReader that reads other subgraphs.
#include <algorithm>

#include <fmt/format.h>

#include "frontends/tflite/builtin_names.h"
#include "frontends/tflite/operators.h"
#include "frontends/tflite/region.h"

namespace aotc::frontends {

namespace {

namespace schema = tflite_schema;

// Handles by tensor of the other subgraph. An IF has its condition before what it hands on.
template <typename Known>
std::map<int32_t, Variables::Key> handles_for(const schema::Operator& op, bool is_if,
                                              const schema::SubGraph& inner, const Known& known) {
  std::map<int32_t, Variables::Key> out;
  const uint32_t first = is_if ? 1 : 0;
  for (uint32_t i = first; i < length(op.inputs()); ++i)
    if (const Variables::Key* key = known(op.inputs()->Get(i)))
      out.emplace(index_at(inner.inputs(), i - first), *key);
  return out;
}

// LiteRT copies a body's results to where its operands are, one after the other: a result that is an operand
// which an earlier one has replaced is then wrong, while TensorFlow has it right.
bool keeps_order(const graph::Graph& body, const Location& at, Diagnostics& told) {
  const size_t count = std::min(body.inputs.size(), body.outputs.size());
  for (size_t i = 0; i < count; ++i)
    for (size_t k = 0; k < i; ++k) {
      if (body.outputs[i].tensor != body.inputs[k].tensor || body.outputs[k].tensor == body.inputs[k].tensor)
        continue;
      told.error(at, "while-exchange",
                 fmt::format("result {} of the body is its operand {}, which result {} replaces: LiteRT and "
                             "TensorFlow compute different values",
                             i, k, k))
          .help("let the body compute the value anew (add 0, or tf.identity of a sum), or exchange the order of "
                "the loop's variables");
      return false;
    }
  return true;
}

}  // namespace

std::vector<int> subgraphs_of(const schema::Operator& op) {
  if (const auto* options = op.builtin_options_as<schema::IfOptions>())
    return {options->then_subgraph_index(), options->else_subgraph_index()};
  if (const auto* options = op.builtin_options_as<schema::WhileOptions>())
    return {options->cond_subgraph_index(), options->body_subgraph_index()};
  return {};
}

void find_variables(const Source& source, int index, std::map<int32_t, Variables::Key> handles,
                    int depth, VariableUse& use) {
  const auto* subgraphs = source.model->subgraphs();
  // What is out of range or too deep is told where it is read.
  if (index < 0 || static_cast<size_t>(index) >= length(subgraphs) || depth > graph::kMostDepth) return;
  const schema::SubGraph& subgraph = *subgraphs->Get(static_cast<uint32_t>(index));
  auto known = [&](int32_t tensor) -> const Variables::Key* {
    auto found = handles.find(tensor);
    return found == handles.end() ? nullptr : &found->second;
  };
  for (uint32_t i = 0; i < length(subgraph.operators()) && use.operators_left-- > 0; ++i) {
    const schema::Operator& op = *subgraph.operators()->Get(i);
    const int builtin = source.builtin_of(op);
    const Variables::Key* key = known(index_at(op.inputs(), 0));
    if (builtin == kTfliteVarHandle) {
      handles.insert_or_assign(index_at(op.outputs(), 0), variable_key(op));
    } else if (builtin == kTfliteReadVariable && key != nullptr) {
      use.used.insert(*key);
    } else if (builtin == kTfliteAssignVariable && key != nullptr) {
      use.used.insert(*key);
      use.assigned.insert(*key);
    } else if (builtin == kTfliteIf || builtin == kTfliteWhile) {
      for (int inner : subgraphs_of(op)) {
        if (inner < 0 || static_cast<size_t>(inner) >= length(subgraphs)) continue;
        const schema::SubGraph& next = *subgraphs->Get(static_cast<uint32_t>(inner));
        find_variables(source, inner, handles_for(op, builtin == kTfliteIf, next, known), depth + 1, use);
      }
      // A loop hands its handles on.
      for (uint32_t k = 0; builtin == kTfliteWhile && k < length(op.outputs()); ++k)
        if (const Variables::Key* handed = known(index_at(op.inputs(), k)))
          handles.insert_or_assign(op.outputs()->Get(k), Variables::Key(*handed));
    }
  }
}

void OperatorReader::build_control(size_t index, Build& build) {
  Diagnostics told;
  bool good = read_control(index, build, told);
  skip(index, build);
  if (!good) failed_.push_back({index, std::move(told)});
}

bool OperatorReader::read_control(size_t index, Build& build, Diagnostics& told) {
  const schema::Operator& from = raw(index);
  const bool is_if = resolved_[index].builtin == kTfliteIf;
  graph::Op op;
  if (!connect(index, build, op, told)) return false;
  op.definition = set_.find(is_if ? "if" : "while");
  const std::vector<int> subgraphs = subgraphs_of(from);
  const size_t count = length(source_.model->subgraphs());
  auto invalid = [&](std::string message) {
    told.error(op.location, "tflite-invalid", std::move(message))
        .help("the file is damaged; export the model again");
    return false;
  };
  if (op.definition == nullptr || subgraphs.size() != 2) return invalid("it names no subgraphs");
  if (source_.depth >= graph::kMostDepth)
    return invalid(fmt::format("its subgraphs are more than {} deep", graph::kMostDepth));
  for (int subgraph : subgraphs)
    if (subgraph < 0 || static_cast<size_t>(subgraph) >= count || subgraph == source_.subgraph_index)
      return invalid(fmt::format("it runs subgraph {}, the file has {}", subgraph, count));
  op.attributes = op.definition->default_attributes();

  // What the subgraphs do with variables becomes operands and results.
  auto known = [&](int32_t tensor) { return variables_.known(tensor); };
  VariableUse use;
  std::vector<std::map<int32_t, Variables::Key>> handles;
  for (int subgraph : subgraphs) {
    handles.push_back(
        handles_for(from, is_if, *source_.model->subgraphs()->Get(static_cast<uint32_t>(subgraph)), known));
    find_variables(source_, subgraph, handles.back(), source_.depth + 1, use);
  }
  if (use.operators_left < 0) {
    report_aliasing(told, op.location);
    return false;
  }
  std::vector<Variables::Key> used(use.used.begin(), use.used.end());
  std::vector<Variables::Key> kept = is_if ? std::vector<Variables::Key>(use.assigned.begin(), use.assigned.end())
                                           : used;
  for (const Variables::Key& key : used) {
    auto value = variables_.value(key, op.location, build.graph, told);
    if (!value) return false;
    op.operands.push_back(*value);
  }
  auto grown = [&] {
    build.defined.resize(build.graph.tensors.size(), true);
    build.derived.resize(build.graph.tensors.size(), false);
    build.pending.resize(build.graph.tensors.size(), -1);
  };
  grown();

  for (size_t r = 0; r < 2; ++r) {
    RegionRequest request;
    request.subgraph = subgraphs[r];
    request.handles = handles[r];
    request.inputs = used;
    if (is_if || r == 1) request.outputs = kept;
    for (size_t i = is_if ? 1 : 0; i < op.operands.size(); ++i) {
      if (!op.operands[i].valid()) return invalid(fmt::format("operand {} is absent", i));
      request.arguments.push_back(build.graph[op.operands[i]].type);
    }
    graph::Graph region;
    Diagnostics* outer = source_.diags;
    source_.diags = &told;
    bool good = read_region(source_, set_, request, region);
    source_.diags = outer;
    if (!good) return false;
    op.regions.push_back(std::move(region));
  }

  if (!is_if && !keeps_order(op.regions[1], op.location, told)) return false;
  // Shapes that the file leaves open, and the variables' values behind the operator.
  const auto& outputs = op.regions[1].outputs;
  if (outputs.size() != op.results.size() + kept.size())
    return invalid(fmt::format("subgraph {} has {} outputs, the operator {}", subgraphs[1],
                               outputs.size() - kept.size(), op.results.size()));
  for (size_t i = 0; i < op.results.size(); ++i)
    build.graph[op.results[i]].type.shape = op.regions[1][outputs[i].tensor].type.shape;
  for (size_t k = 0; k < kept.size(); ++k) {
    graph::Tensor tensor;
    tensor.name = kept[k].second;
    tensor.type = op.regions[1][outputs[op.results.size()].tensor].type;
    op.results.push_back(build.graph.add_tensor(std::move(tensor)));
    variables_.set_value(kept[k], op.results.back());
  }
  grown();
  for (uint32_t i = 0; !is_if && i < length(from.outputs()); ++i)
    if (const Variables::Key* key = known(index_at(from.inputs(), i)))
      variables_.set_handle(from.outputs()->Get(i), *key);
  if (!ops::verify_op({build.graph, op}, told)) return false;
  build.graph.ops.push_back(std::move(op));
  build.folded.push_back(false);
  return true;
}

}  // namespace aotc::frontends
