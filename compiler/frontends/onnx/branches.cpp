// SPDX-License-Identifier: Apache-2.0
// If: a branch whose condition is known takes the operator's place; else both become regions, which see what they read
// of the graphs around them as operands, and constants as their own.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "frontends/onnx/import.h"

namespace aotc::frontends::onnx {

namespace {

// Names that a graph, or one in it, reads and does not define, each once.
void find_outer_names(const Graph& graph, std::set<std::string_view> defined, std::vector<std::string_view>& out) {
  auto read = [&](std::string_view name) {
    if (!name.empty() && !defined.contains(name) && std::find(out.begin(), out.end(), name) == out.end())
      out.push_back(name);
  };
  for (const ValueInfo& info : graph.inputs) defined.insert(info.name);
  for (const Tensor& t : graph.initializers) defined.insert(t.name);
  for (const Node& node : graph.nodes) {
    for (std::string_view name : node.inputs) read(name);
    for (const Attribute& a : node.attributes) {
      std::vector<std::string_view> inner;
      if (a.graph) find_outer_names(*a.graph, defined, inner);
      for (std::string_view name : inner) read(name);
    }
    defined.insert(node.outputs.begin(), node.outputs.end());
  }
  for (const ValueInfo& info : graph.outputs) read(info.name);
}

}  // namespace

const Graph* Importer::branch_of(const Node& node, bool condition) {
  const Attribute* branch = node.find(condition ? "then_branch" : "else_branch");
  if (branch != nullptr && branch->graph && !node.outputs.empty() && branch->graph->outputs.size() == node.outputs.size())
    return branch->graph.get();
  error(where_node(node), "onnx-invalid", "its branches do not have its outputs",
        "the file is damaged; export the model again");
  return nullptr;
}

bool Importer::add_if(const Node& node, const Versions& versions, const std::vector<Id>& inputs,
                      Scope& scope, int depth) {
  if (inputs.empty() || !inputs[0].valid())
    return error(where_node(node), "onnx-invalid", "it has no condition", "the file is damaged; export the model again");
  std::optional<double> condition;
  if (!build_at(where_node(node), [&] { condition = builder_.number(inputs[0]); })) return false;
  if (!condition) return add_branches(node, versions, inputs[0], scope, depth);
  const Graph* branch = branch_of(node, *condition != 0);
  if (branch == nullptr) return false;
  Scope inner;
  inner.outer = &scope;
  if (!add_initializers(*branch, inner) || !add_nodes(branch->nodes, versions, inner, depth + 1)) return false;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    Id id = find(inner, branch->outputs[i].name);
    if (id == kPoison) return false;
    if (!id.valid())
      return error(where_node(node), "onnx-invalid", fmt::format("output {} of the branch is not defined", i),
                   "the file is damaged; export the model again");
    if (!define(node, i, id, scope)) return false;
  }
  return true;
}

// Names read from outside that are computed: operands of the operator, in this order.
bool Importer::captures_of(const Node& node, const Scope& scope, std::vector<std::string_view>& names) {
  for (bool condition : {true, false}) {
    const Graph* branch = branch_of(node, condition);
    if (branch == nullptr) return false;
    std::vector<std::string_view> read;
    find_outer_names(*branch, {}, read);
    for (std::string_view name : read) {
      Id id = find(scope, name);
      if (id == kPoison) return false;
      // What is defined nowhere is told where it is read.
      if (id.valid() && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return true;
}

// A branch as a graph of its own, and what its outputs stand for.
bool Importer::add_region(const Graph& branch, const std::vector<std::string_view>& names, const Versions& versions,
                          const Scope& scope, int depth, graph::Graph& region, std::vector<int32_t>& elements) {
  region.name = std::string(branch.name);
  region.source_file = file_;
  Importer inner(model_, tensors_, file_, options_, region, diags_);
  inner.index_ = index_;
  inner.nodes_ = nodes_;
  inner.builder_.swap_limits(builder_);
  Scope values;
  for (std::string_view name : names) {
    const Id outer = find(scope, name);
    graph::Tensor tensor;
    tensor.name = std::string(name);
    tensor.type = graph_[outer].type;
    tensor.constant = graph_[outer].constant;
    const bool given = !tensor.constant;
    const Id id = region.add_tensor(std::move(tensor));
    if (given) region.inputs.push_back({id, std::string(name)});
    values.values.emplace(name, inner.builder_.set_element(id, builder_.element(outer)));
  }
  bool good = inner.add_initializers(branch, values) && inner.add_nodes(branch.nodes, versions, values, depth + 1);
  for (size_t i = 0; good && i < branch.outputs.size(); ++i) {
    const std::string_view name = branch.outputs[i].name;
    Id id = inner.find(values, name);
    good = id != kPoison;
    if (good && !id.valid())
      good = error(where(name), "onnx-invalid", fmt::format("output {} of the branch is not defined", i),
                   "the file is damaged; export the model again");
    if (!good) break;
    good = inner.build(name, [&] {
      if (region[id].type.elements() == 0)
        inner.builder_.stop("onnx-empty", "a branch gives a tensor without elements", "export the model with fixed shapes");
      if (region.is_constant(id) || region.is_input(id) || region.is_output(id)) id = inner.builder_.copy(id);
    });
    region.outputs.push_back({id, std::string(name)});
    elements.push_back(inner.builder_.element(id));
  }
  inner.builder_.finish();
  inner.builder_.swap_limits(builder_);
  nodes_ = inner.nodes_;
  unknown_.insert(unknown_.end(), inner.unknown_.begin(), inner.unknown_.end());
  return good;
}

bool Importer::add_branches(const Node& node, const Versions& versions, Id condition, Scope& scope, int depth) {
  std::vector<std::string_view> names;
  if (depth >= limits::kMaxDepth)
    return error(where_node(node), "onnx-limit", "branches in branches are too deep", "export the model with fewer");
  if (!captures_of(node, scope, names)) return false;
  std::vector<Id> operands;
  std::vector<graph::Graph> regions(2);
  std::vector<int32_t> elements[2];
  for (std::string_view name : names) {
    const Id id = find(scope, name);
    bool known = false;
    if (!build_at(where_node(node), [&] { known = builder_.is_constant(id); })) return false;
    if (!known) operands.push_back(id);
  }
  bool good = true;  // both are looked at whatever fails
  for (size_t r = 0; r < 2; ++r)
    good = add_region(*branch_of(node, r == 0), names, versions, scope, depth, regions[r], elements[r]) && good;
  if (!good) return false;
  for (size_t i = 0; i < elements[0].size(); ++i) {
    auto type = [&](size_t r) {
      return element_type_name(elements[r][i]) + " " + graph::to_string(regions[r][regions[r].outputs[i].tensor].type.shape);
    };
    if (type(0) != type(1))
      return error(where_node(node), "onnx-shape",
                   fmt::format("output {} is {} of one branch and {} of the other", i, type(0), type(1)),
                   "both must be of one type and shape, unless the condition is known: --value NAME=true");
  }
  std::vector<Id> results;
  good = build_at(where_node(node), [&] { results = builder_.add_if(condition, operands, std::move(regions)); });
  for (size_t i = 0; good && i < node.outputs.size(); ++i) {
    if (!node.outputs[i].empty()) builder_.name(results[i], node.outputs[i]);
    good = define(node, i, builder_.set_element(results[i], elements[0][i]), scope);
  }
  return good;
}

}  // namespace aotc::frontends::onnx
