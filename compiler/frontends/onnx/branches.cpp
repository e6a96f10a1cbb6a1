// SPDX-License-Identifier: Apache-2.0
// If: a branch whose condition is known takes the operator's place; else both become regions, which see what they read
// of the graphs around them as operands, and constants as their own.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "frontends/onnx/import.h"

namespace aotc::frontends::onnx {

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

const Graph* Importer::branch_of(const Node& node, bool condition) {
  const Attribute* branch = node.find(condition ? "then_branch" : "else_branch");
  if (branch != nullptr && branch->graph && !node.outputs.empty() &&
      branch->graph->outputs.size() == node.outputs.size())
    return branch->graph.get();
  error(where_node(node), "onnx-invalid",
        "a branch is missing, or a branch and the operator have different numbers of outputs",
        "the file is damaged; export the model again");
  return nullptr;
}

bool Importer::add_if(const Node& node, const Versions& versions, const std::vector<Id>& inputs, Scope& scope,
                      int depth) {
  if (inputs.empty() || !inputs[0].valid())
    return error(where_node(node), "onnx-invalid", "the condition (input 0) is missing",
                 "the file is damaged; export the model again");
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

// Names that a graph reads from outside and that are there.
bool Importer::captures_of(const Node& node, const Graph& graph, const Scope& scope,
                           std::vector<std::string_view>& names) {
  std::vector<std::string_view> read;
  find_outer_names(graph, {}, read);
  for (std::string_view name : read) {
    Id id = find(scope, name);
    if (id == kPoison) return false;
    // What is defined nowhere is told where it is read.
    if (!id.valid() || std::find(names.begin(), names.end(), name) != names.end()) continue;
    if (builder_.counted(id)) return error_counted(where_node(node), id);
    names.push_back(name);
  }
  return true;
}

// The reader of a region of the graph, which goes on with the limits of this one.
Importer Importer::open_region(const Graph& from, graph::Graph& region, Diagnostics* told) {
  region.name = std::string(from.name);
  region.source_file = file_;
  Importer inner(model_, tensors_, file_, options_, region, told != nullptr ? *told : diags_);
  inner.builder_.set_region();
  inner.index_ = index_;
  inner.nodes_ = nodes_;
  inner.builder_.swap_limits(builder_);
  return inner;
}

void Importer::close_region(Importer& inner) {
  inner.builder_.finish();
  inner.builder_.swap_limits(builder_);
  nodes_ = inner.nodes_;
  unknown_.insert(unknown_.end(), inner.unknown_.begin(), inner.unknown_.end());
}

// A value of this graph in the region: constants are its own, unless they are only what it begins with.
Id Importer::hand_over(Id outer, std::string_view name, bool first_value, Importer& inner) {
  graph::Graph& region = inner.graph_;
  graph::Tensor tensor;
  tensor.name = std::string(name);
  tensor.type = graph_[outer].type;
  if (!first_value) tensor.constant = graph_[outer].constant;
  const bool given = !tensor.constant;
  const Id id = region.add_tensor(std::move(tensor));
  if (given) region.inputs.push_back({id, std::string(name)});
  return inner.builder_.set_element(id, builder_.element(outer));
}

// What the outputs of a region's graph are, of tensors that are its own.
bool Importer::find_outputs(const Graph& from, const Scope& values, std::vector<Id>& out) {
  for (size_t i = 0; i < from.outputs.size(); ++i) {
    const std::string_view name = from.outputs[i].name;
    const Id id = find(values, name);
    if (id == kPoison) return false;
    if (!id.valid())
      return error(where(name), "onnx-invalid", fmt::format("output {} of the branch is not defined", i),
                   "the file is damaged; export the model again");
    if (builder_.counted(id)) return error_counted(where(name), id);
    out.push_back(id);
  }
  return true;
}

// A branch as a graph of its own, and what its outputs stand for.
bool Importer::add_region(const Graph& branch, const std::vector<std::string_view>& names, const Versions& versions,
                          const Scope& scope, int depth, graph::Graph& region, std::vector<int32_t>& elements,
                          Diagnostics& told) {
  Importer inner = open_region(branch, region, &told);
  Scope values;
  for (std::string_view name : names) values.values.emplace(name, hand_over(find(scope, name), name, false, inner));
  std::vector<Id> outputs;
  bool good = inner.add_initializers(branch, values) && inner.add_nodes(branch.nodes, versions, values, depth + 1) &&
              inner.find_outputs(branch, values, outputs);
  for (size_t i = 0; good && i < outputs.size(); ++i) {
    const std::string_view name = branch.outputs[i].name;
    Id id = outputs[i];
    good = inner.build(name, [&] {
      if (region[id].type.elements() == 0)
        inner.builder_.stop("onnx-empty", "an output of a branch has no elements",
                            "export the model with fixed shapes");
      if (region.is_constant(id) || region.is_input(id) || region.is_output(id)) id = inner.builder_.copy(id);
    });
    region.outputs.push_back({id, std::string(name)});
    elements.push_back(inner.builder_.element(id));
  }
  close_region(inner);
  return good;
}

// A branch that cannot be compiled may be one that the user never runs: where few inputs decide, they are named.
bool Importer::tell_deciding_input(const Node& node, Id condition, const Diagnostics& told) {
  const auto from = builder_.sources(condition);
  if (!from || from->size() != 1 || builder_.type((*from)[0]).elements() != 1) return false;
  // The number that it is compared with is one that it can have.
  std::string value = "...";
  if (const graph::Op* op = builder_.producer(condition); op != nullptr && op->name() == "equal")
    for (Id operand : std::vector<Id>(op->operands))
      if (graph_.is_constant(operand))
        if (auto number = builder_.number(operand)) value = fmt::format("{:g}", *number);
  const Diagnostic* first = nullptr;
  for (const Diagnostic& d : told.all()) {
    if (d.slug == "onnx-invalid") return false;  // whatever the input
    if (first == nullptr && d.severity == Severity::kError) first = &d;
  }
  const graph::Tensor& input = graph_[(*from)[0]];
  if (input.type.dtype == DType::kBool) value = "true";
  const std::string name = escape_for_display(input.name);
  if (!input.type.shape.empty()) value = "[" + value + "]";
  Diagnostic& d =
      diags_.error(where_node(node), "onnx-constant",
                   fmt::format("input '{}' decides which branch runs, but aotc cannot compile both branches", name));
  d.note(fmt::format("{}: {}", first->location.str(), first->message));
  d.help(fmt::format("give the value of this input, so that only one branch is compiled: --value {}={}", name, value));
  return true;
}

bool Importer::add_branches(const Node& node, const Versions& versions, Id condition, Scope& scope, int depth) {
  std::vector<std::string_view> names;
  if (depth >= limits::kMaxDepth)
    return error(where_node(node), "onnx-limit",
                 fmt::format("branches, loops and functions are nested more than {} deep", limits::kMaxDepth),
                 "export the model with fewer nested branches");
  for (bool taken : {true, false}) {
    const Graph* branch = branch_of(node, taken);
    if (branch == nullptr || !captures_of(node, *branch, scope, names)) return false;
  }
  std::vector<Id> operands = {condition};
  std::vector<graph::Graph> regions(2);
  std::vector<int32_t> elements[2];
  for (std::string_view name : names) {
    const Id id = find(scope, name);
    bool known = false;
    if (!build_at(where_node(node), [&] { known = builder_.is_constant(id); })) return false;
    if (!known) operands.push_back(id);
  }
  bool good = true;  // both are looked at whatever fails
  Diagnostics told;
  for (size_t r = 0; r < 2; ++r)
    good = add_region(*branch_of(node, r == 0), names, versions, scope, depth, regions[r], elements[r], told) && good;
  if (!good && told.has_errors() && tell_deciding_input(node, condition, told)) return false;
  for (const Diagnostic& d : told.all()) append(diags_, d);
  if (!good) return false;
  for (size_t i = 0; i < elements[0].size(); ++i) {
    auto type = [&](size_t r) {
      return element_type_name(elements[r][i]) + " " +
             graph::to_string(regions[r][regions[r].outputs[i].tensor].type.shape);
    };
    if (type(0) != type(1))
      return error(where_node(node), "onnx-shape",
                   fmt::format("output {} is {} in one branch and {} in the other", i, type(0), type(1)),
                   "both branches must give the same type and shape, unless the condition is known at compile time: " +
                       builder_.how_to_know(condition));
  }
  std::vector<Id> results;
  good = build_at(where_node(node), [&] { results = builder_.add_control("if", operands, std::move(regions)); });
  for (size_t i = 0; good && i < node.outputs.size(); ++i) {
    if (!node.outputs[i].empty()) builder_.name(results[i], node.outputs[i]);
    good = define(node, i, builder_.set_element(results[i], elements[0][i]), scope);
  }
  return good;
}

}  // namespace aotc::frontends::onnx
