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
std::map<int32_t, Variables::Key> handles_for(const schema::Operator& op, bool is_if, const schema::SubGraph& inner,
                                              const Known& known) {
  std::map<int32_t, Variables::Key> out;
  const uint32_t first = is_if ? 1 : 0;
  for (uint32_t i = first; i < length(op.inputs()); ++i)
    if (const Variables::Key* key = known(op.inputs()->Get(i))) out.emplace(index_at(inner.inputs(), i - first), *key);
  return out;
}

// LiteRT copies a body's results to where its operands are, one after the other: a result that is an operand
// which an earlier one has replaced is then wrong, while TensorFlow has it right.
bool keeps_order(const graph::Graph& body, const Location& at, Diagnostics& told) {
  const size_t count = std::min(body.inputs.size(), body.outputs.size());
  for (size_t i = 0; i < count; ++i)
    for (size_t k = 0; k < i; ++k) {
      if (body.outputs[i].tensor != body.inputs[k].tensor || body.outputs[k].tensor == body.inputs[k].tensor) continue;
      told.error(at, "while-exchange",
                 fmt::format("result {} of the loop body is operand {}, but result {} overwrites that operand first, "
                             "so LiteRT and TensorFlow compute different values",
                             i, k, k))
          .help(
              "compute the value again in the body (for example add 0, or use tf.identity of a sum), or swap the "
              "order of the loop's variables");
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
  if (const auto* options = op.builtin_options_2_as<schema::StableHLOCompositeOptions>())
    return {options->decomposition_subgraph_index()};
  return {};
}

void find_variables(const Source& source, int index, std::map<int32_t, Variables::Key> handles, int depth,
                    VariableUse& use) {
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

struct OperatorReader::Control {
  bool is_if = false;
  graph::Op op;
  std::vector<int> subgraphs;
  std::vector<std::map<int32_t, Variables::Key>> handles;  // by subgraph
  // Variables that the subgraphs use, as operands; and those that are results.
  std::vector<Variables::Key> used, kept;
};

bool OperatorReader::read_control(size_t index, Build& build, Diagnostics& told) {
  Control control;
  control.is_if = resolved_[index].builtin == kTfliteIf;
  control.subgraphs = subgraphs_of(raw(index));
  graph::Op& op = control.op;
  if (!connect(index, build, op, told)) return false;
  op.definition = set_.find(control.is_if ? "if" : "while");
  if (op.definition == nullptr || control.subgraphs.size() != 2)
    return damaged(told, op.location, "the operator must name two subgraphs");
  op.attributes = op.definition->default_attributes();
  if (!check_subgraphs(control, told) || !pass_variables(index, build, control, told) ||
      !read_regions(build, control, told) || (!control.is_if && !keeps_order(op.regions[1], op.location, told)) ||
      !take_results(index, build, control, told) || !ops::verify_op({build.graph, op}, told))
    return false;
  build.graph.ops.push_back(std::move(op));
  build.folded.push_back(false);
  return true;
}

bool OperatorReader::check_subgraphs(const Control& control, Diagnostics& told) const {
  const size_t count = length(source_.model->subgraphs());
  if (source_.depth >= graph::kMostDepth)
    return damaged(told, control.op.location,
                   fmt::format("the subgraphs are nested more than {} deep", graph::kMostDepth));
  for (int subgraph : control.subgraphs)
    if (subgraph < 0 || static_cast<size_t>(subgraph) >= count || subgraph == source_.subgraph_index)
      return damaged(
          told, control.op.location,
          fmt::format("the operator cannot run subgraph {}: the file has {} subgraphs, numbered from 0, and no "
                      "subgraph can run itself",
                      subgraph, count));
  return true;
}

// What the subgraphs do with variables becomes operands and results.
bool OperatorReader::pass_variables(size_t index, Build& build, Control& control, Diagnostics& told) {
  auto known = [&](int32_t tensor) { return variables_.known(tensor); };
  VariableUse use;
  for (int subgraph : control.subgraphs) {
    const auto* inner = source_.model->subgraphs()->Get(static_cast<uint32_t>(subgraph));
    control.handles.push_back(handles_for(raw(index), control.is_if, *inner, known));
    find_variables(source_, subgraph, control.handles.back(), source_.depth + 1, use);
  }
  if (use.operators_left < 0) {
    report_aliasing(told, control.op.location);
    return false;
  }
  control.used.assign(use.used.begin(), use.used.end());
  control.kept = control.used;
  if (control.is_if) control.kept.assign(use.assigned.begin(), use.assigned.end());
  for (const Variables::Key& key : control.used) {
    auto value = variables_.value(key, control.op.location, build.graph, told);
    if (!value) return false;
    control.op.operands.push_back(*value);
  }
  build.mark_added();
  return true;
}

bool OperatorReader::read_regions(Build& build, Control& control, Diagnostics& told) {
  graph::Op& op = control.op;
  for (size_t r = 0; r < control.subgraphs.size(); ++r) {
    RegionRequest request;
    request.subgraph = control.subgraphs[r];
    request.handles = control.handles[r];
    request.inputs = control.used;
    if (control.is_if || r == 1) request.outputs = control.kept;
    for (size_t i = control.is_if ? 1 : 0; i < op.operands.size(); ++i) {
      if (!op.operands[i].valid()) return damaged(told, op.location, fmt::format("operand {} is missing", i));
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
  return true;
}

// Shapes that the file leaves open, and the variables' values behind the operator.
bool OperatorReader::take_results(size_t index, Build& build, Control& control, Diagnostics& told) {
  graph::Op& op = control.op;
  const graph::Graph& last = op.regions[1];
  if (last.outputs.size() != op.results.size() + control.kept.size())
    return damaged(told, op.location,
                   fmt::format("subgraph {} has {} outputs, but the operator has {}", control.subgraphs[1],
                               last.outputs.size() - control.kept.size(), op.results.size()));
  for (size_t i = 0; i < op.results.size(); ++i)
    build.graph[op.results[i]].type.shape = last[last.outputs[i].tensor].type.shape;
  for (const Variables::Key& key : control.kept) {
    graph::Tensor tensor;
    tensor.name = key.second;
    tensor.type = last[last.outputs[op.results.size()].tensor].type;
    op.results.push_back(build.graph.add_tensor(std::move(tensor)));
    variables_.set_value(key, op.results.back());
  }
  build.mark_added();
  const schema::Operator& from = raw(index);
  for (uint32_t i = 0; !control.is_if && i < length(from.outputs()); ++i)
    if (const Variables::Key* key = variables_.known(index_at(from.inputs(), i)))
      variables_.set_handle(from.outputs()->Get(i), *key);
  return true;
}

}  // namespace aotc::frontends
