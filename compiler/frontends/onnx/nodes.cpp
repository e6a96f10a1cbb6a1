// SPDX-License-Identifier: Apache-2.0
// Nodes of an ONNX graph: each through its rule, functions of the model in their place.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "frontends/onnx/import.h"

namespace aotc::frontends::onnx {

namespace {

// The Scan of version 8 has a batch and lengths.
bool branches(const Node& node, std::string_view domain, int64_t version) {
  const bool scans = node.type == "Scan" && version >= 9;
  return domain.empty() && (node.type == "If" || node.type == "Loop" || scans);
}

// The first attribute that If, Loop and Scan do not have; nothing if there is none.
const Attribute* unknown_of_control(const Node& node) {
  static const std::map<std::string_view, std::set<std::string_view>> kAttributes = {
      {"If", {"then_branch", "else_branch"}},
      {"Loop", {"body"}},
      {"Scan",
       {"body", "num_scan_inputs", "scan_input_axes", "scan_input_directions", "scan_output_axes",
        "scan_output_directions"}}};
  const std::set<std::string_view>& known = kAttributes.at(node.type);
  for (const Attribute& a : node.attributes)
    if (!known.contains(a.name) || !a.reference.empty()) return &a;
  return nullptr;
}

}  // namespace

Location Importer::where_node(const Node& node) const {
  Location at;
  at.file = file_;
  at.op_index = index_;
  at.op_type = std::string(node.type.substr(0, 200));
  for (std::string_view output : node.outputs)
    if (!output.empty() && at.tensor.empty()) at.tensor = std::string(output.substr(0, 4096));
  return at;
}

Id Importer::find(const Scope& scope, std::string_view name) const {
  for (const Scope* s = &scope; s != nullptr; s = s->outer)
    if (auto found = s->values.find(name); found != s->values.end()) return found->second;
  return {};
}

bool Importer::define(const Node& node, size_t output, Id id, Scope& scope) {
  std::string_view name = node.outputs[output];
  if (name.empty()) return true;
  if (scope.values.emplace(name, id).second) return true;
  return error(where_node(node), "onnx-invalid",
               fmt::format("'{}' is defined twice", escape_for_display(std::string(name))),
               "the file is damaged; export the model again");
}

void Importer::poison(const Node& node, Scope& scope) {
  for (std::string_view name : node.outputs)
    if (!name.empty()) scope.values.emplace(name, kPoison);
}

bool Importer::add_nodes(const std::vector<Node>& nodes, const Versions& versions, Scope& scope, int depth) {
  bool good = true;
  for (const Node& node : nodes) {
    if (depth == 0) ++index_;
    if (node.type.empty() && node.outputs.empty()) continue;  // part of a group (qdq.h)
    if (++nodes_ > kMostNodes)
      return error(where_node(node), "onnx-limit", fmt::format("the model has more than {} operators", kMostNodes),
                   "export a smaller model");
    if (!add_node(node, versions, scope, depth)) {
      good = false;
      poison(node, scope);
    }
    if (diags_.error_count() > kMostErrors) return false;
  }
  return good;
}

const Function* Importer::find_function(const Node& node) const {
  for (const Function& f : model_.functions)
    if (f.name == node.type && f.domain == node.domain && f.overload == node.overload) return &f;
  return nullptr;
}

// Told at the end, if it is not.
bool Importer::is_known(const Node& node, const Versions& versions) {
  const std::string_view domain = node.domain == "ai.onnx" ? "" : node.domain;
  auto version = versions.find(domain);
  if (find_function(node) != nullptr) return true;
  if (version != versions.end() &&
      (branches(node, domain, version->second) || find_rule(domain, node.type, version->second) != nullptr))
    return true;
  const std::string from = domain.empty() ? "ai.onnx" : std::string(domain);
  unknown_.push_back(
      {where_node(node),
       fmt::format("{} ({}{})", escape_for_display(std::string(node.type)), escape_for_display(from),
                   version == versions.end() ? std::string(", not imported") : fmt::format(" {}", version->second))});
  return false;
}

bool Importer::add_node(const Node& node, const Versions& versions, Scope& scope, int depth) {
  const Function* function = find_function(node);
  // Also behind what is not known: all of them are told at once.
  if (!is_known(node, versions)) return false;
  const std::string_view domain = node.domain == "ai.onnx" ? "" : node.domain;
  auto version = versions.find(domain);
  std::vector<Id> inputs;
  for (std::string_view name : node.inputs) {
    Id id = name.empty() ? Id{} : find(scope, name);
    if (id == kPoison) return false;
    if (!name.empty() && !id.valid())
      return error(where_node(node), "onnx-invalid",
                   fmt::format("input '{}' is not defined before this operator", escape_for_display(std::string(name))),
                   "the file is damaged; export the model again");
    inputs.push_back(id);
  }
  if (function != nullptr) return call_function(*function, node, inputs, scope, depth);
  if (branches(node, domain, version->second)) {
    for (Id id : inputs)
      if (id.valid() && builder_.counted(id)) return error_counted(where_node(node), id);
    if (const Attribute* a = unknown_of_control(node))
      return error(where_node(node), "onnx-attribute",
                   fmt::format("aotc does not know attribute '{}' of this operator",
                               escape_for_display(std::string(a->name.substr(0, 200)))),
                   "export the model without it, or for an older operator set");
    if (node.type == "Loop") return add_loop(node, versions, inputs, scope, depth);
    if (node.type == "Scan") return add_scan(node, versions, inputs, scope, depth);
    return add_if(node, versions, inputs, scope, depth);
  }
  return apply_rule(*find_rule(domain, node.type, version->second), node, version->second, std::move(inputs), scope);
}

// What a rule computed of tensors that stand for another type stands for it too: floats are rounded, unless
// they are elements that were only moved.
void Importer::take_type(const Rule& rule, const std::vector<Id>& inputs, size_t output, Id& id) {
  DType type = builder_.dtype(id);
  if (states_type(rule) || !builder_.is_new(id) || builder_.element(id) != element_of(type)) return;
  bool real = type == DType::kF32, moves = only_moves(rule);
  if (!real && !moves && !keeps_type(rule, output)) return;
  // The first operand that is carried by the result's type says what it is.
  for (Id in : inputs) {
    if (!in.valid() || builder_.dtype(in) != type) continue;
    int32_t element = builder_.element(in);
    if (element == element_of(type)) return;
    const auto counted = builder_.counted(id);
    id = moves ? builder_.set_element(id, element) : builder_.rounded(id, element);
    if (counted) builder_.set_counted(id, *counted);
    return;
  }
}

bool Importer::apply_rule(const Rule& rule, const Node& node, int64_t version, std::vector<Id> inputs, Scope& scope) {
  Diagnostics told;
  builder_.begin(where_node(node), told);
  Call call(builder_, node, version, std::move(inputs), tensors_);
  bool good = true;
  try {
    for (Id id : call.all())
      if (id.valid() && !takes_element(rule, builder_.element(id)))
        builder_.stop("onnx-type",
                      fmt::format("{} is not supported for {}", node.type, element_type_name(builder_.element(id))),
                      "cast the operand to another type first");
    rule.import(call);
    call.check_all_asked();
    for (size_t i = 0; good && i < node.outputs.size(); ++i) {
      if (node.outputs[i].empty()) continue;
      Id id = call.results()[i];
      if (!id.valid())
        builder_.stop("onnx-attribute", fmt::format("aotc does not compute output {} of this operator", i),
                      "export the model without the operators that read this output");
      take_type(rule, call.all(), i, id);
      if (builder_.is_new(id)) builder_.name(id, node.outputs[i]);
      good = pass_counts(rule, call, i, id) && define(node, i, id, scope);
    }
  } catch (const Stop&) {
    good = false;
  }
  for (const Diagnostic& d : told.all()) append(diags_, d);
  return good;
}

// A function's operators, also those of branches and bodies in it, as this call of it has them: attributes that stand
// for its own, and inputs that are not given.
static void settle(std::vector<Node>& nodes, const Function& function, const Node& call,
                   const std::set<std::string_view>& absent) {
  for (Node& n : nodes) {
    std::erase_if(n.attributes, [&](Attribute& a) {
      if (a.graph) {
        a.graph = std::make_shared<Graph>(*a.graph);
        settle(a.graph->nodes, function, call, absent);
      }
      if (a.reference.empty()) return false;
      std::string_view name = a.name;
      const Attribute* given = call.find(a.reference);
      for (const Attribute& d : function.defaults)
        if (given == nullptr && d.name == a.reference) given = &d;
      if (given == nullptr) return true;
      a = *given;
      a.name = name;
      return false;
    });
    for (std::string_view& name : n.inputs)
      if (absent.contains(name)) name = "";
  }
}

bool Importer::call_function(const Function& function, const Node& node, const std::vector<Id>& inputs, Scope& scope,
                             int depth) {
  if (depth >= limits::kMaxDepth)
    return error(where_node(node), "onnx-limit",
                 fmt::format("function calls are recursive, or nested more than {} deep", limits::kMaxDepth),
                 "export the model with its functions inlined");
  if (inputs.size() > function.inputs.size() || node.outputs.size() > function.outputs.size())
    return error(where_node(node), "onnx-invalid",
                 "the operator has more inputs or outputs than the function that it calls",
                 "the file is damaged; export the model again");
  Versions versions;
  if (!read_opsets(function.opsets, versions)) return false;
  Scope inner;
  for (size_t i = 0; i < function.inputs.size(); ++i)
    inner.values.emplace(function.inputs[i], i < inputs.size() ? inputs[i] : Id{});
  std::vector<Node> nodes = function.nodes;
  std::set<std::string_view> absent;
  for (const auto& [name, id] : inner.values)
    if (id == Id{}) absent.insert(name);
  settle(nodes, function, node, absent);
  if (!add_nodes(nodes, versions, inner, depth + 1)) return false;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    Id id = find(inner, function.outputs[i]);
    if (id.value < 0)
      return error(where_node(node), "onnx-invalid", fmt::format("output {} of the function is not defined", i),
                   "the file is damaged; export the model again");
    if (!define(node, i, id, scope)) return false;
  }
  return true;
}

void Importer::report_unknown() {
  if (unknown_.empty()) return;
  constexpr size_t kMostListed = 100;
  Location at = unknown_.size() == 1 ? unknown_[0].at : where("");
  std::vector<std::string> kinds;
  for (const Unknown& u : unknown_)
    if (std::find(kinds.begin(), kinds.end(), u.text) == kinds.end()) kinds.push_back(u.text);
  std::string all =
      fmt::format("{}", fmt::join(kinds.begin(), kinds.begin() + std::min<size_t>(kinds.size(), 20), ", "));
  Diagnostic& d = diags_.error(at, "op-unsupported",
                               fmt::format("{} of the model's operators {} not supported: {}{}", unknown_.size(),
                                           unknown_.size() == 1 ? "is" : "are", all, kinds.size() > 20 ? ", ..." : ""));
  for (size_t i = 0; unknown_.size() > 1 && i < unknown_.size() && i < kMostListed; ++i)
    d.note(fmt::format("{}", unknown_[i].at.str()));
  if (std::any_of(kinds.begin(), kinds.end(),
                  [](const std::string& k) { return k.find("com.microsoft") != std::string::npos; }))
    d.help("onnxruntime's optimiser or quantiser writes the operators of com.microsoft: give aotc the original model");
  d.help(
      "export the model without these operators, or for another operator set; docs/onnx.md lists the supported "
      "operators");
}

}  // namespace aotc::frontends::onnx
