// SPDX-License-Identifier: Apache-2.0
// Imports what nodes compute of constants, before groups of quantised operators are folded (qdq.h): a group is
// recognised by the values of its scales, zero points and weights, whatever nodes make them.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/onnx/import.h"

namespace aotc::frontends::onnx {

class Importer::ScopeConstants final : public Constants {
 public:
  ScopeConstants(Importer& importer, const Versions& versions, Scope& scope)
      : importer_(importer), versions_(versions), scope_(scope) {}

  Builder& builder() override { return importer_.builder_; }

  Id find(std::string_view name) override {
    const Id id = name.empty() ? Id{} : importer_.find(scope_, name);
    if (id.value < 0) return {};
    bool known = importer_.graph_.is_constant(id);
    // An operator that was not folded yet is computed now; that may report an error.
    if (!known) importer_.build(name, [&] { known = importer_.builder_.is_constant(id); });
    return known ? id : Id{};
  }

  Id apply(const Node& node, Id x) override {
    Scope inner;
    inner.outer = &scope_;
    const std::string_view name = new_name();
    inner.values.emplace(name, x);
    Node other = node;
    other.inputs[0] = name;
    other.outputs = {new_name()};
    if (!importer_.add_node(other, versions_, inner, 0)) return {};
    return ScopeConstants(importer_, versions_, inner).find(other.outputs[0]);
  }

  Named add_ints(const Ints& values, graph::Shape shape, DType type) override {
    return add([&](Builder& b) {
      const graph::ConstantView list = *b.graph()[b.int_list(values, type)].constant;
      return b.constant(type, shape, {list.bytes.begin(), list.bytes.end()});
    });
  }
  Named add_floats(const std::vector<float>& values) override {
    return add([&](Builder& b) { return b.floats_of(values, {static_cast<int64_t>(values.size())}); });
  }

 private:
  std::string_view new_name() {
    return importer_.names_.emplace_back(fmt::format("aotc.constant/{}", importer_.names_.size()));
  }

  template <typename Make>
  Named add(Make make) {
    Named out{{}, new_name()};
    importer_.build(out.name, [&] { out.id = make(importer_.builder_); });
    if (out.id.valid()) scope_.values.emplace(out.name, out.id);
    return out;
  }

  Importer& importer_;
  const Versions& versions_;
  Scope& scope_;
};

// A DequantizeLinear may begin a group: it is not computed unless a node reads the floats.
bool Importer::could_be_known(const Node& node, const Versions& versions, const Scope& scope) const {
  const std::string_view domain = node.domain == "ai.onnx" ? "" : node.domain;
  const auto version = versions.find(domain);
  if (node.type == "DequantizeLinear" || find_function(node) != nullptr || version == versions.end() ||
      find_rule(domain, node.type, version->second) == nullptr)
    return false;
  const bool plain = std::all_of(node.attributes.begin(), node.attributes.end(),
                                 [](const Attribute& a) { return a.graph == nullptr; });
  return plain && std::all_of(node.inputs.begin(), node.inputs.end(), [&](std::string_view name) {
           if (name.empty()) return true;
           const Id id = find(scope, name);
           return id.value >= 0 && builder_.could_be_constant(id);
         });
}

bool Importer::add_known(std::vector<Node>& nodes, const Versions& versions, Scope& scope) {
  bool good = true;
  for (size_t i = 0; i < nodes.size() && i < kMostNodes; ++i) {
    if (!could_be_known(nodes[i], versions, scope)) continue;
    index_ = static_cast<int>(i);
    if (!add_node(nodes[i], versions, scope, 0)) {
      good = false;
      poison(nodes[i], scope);
    }
    nodes[i] = {};
  }
  index_ = -1;
  return good;
}

bool Importer::fold_quantised(std::vector<Node>& nodes, const Versions& versions, Scope& scope) {
  if (!has_groups(nodes)) return true;
  bool good = add_known(nodes, versions, scope);
  const auto version = versions.find("");
  ScopeConstants constants(*this, versions, scope);
  Folded folded = fold_groups(model_.graph, nodes, version == versions.end() ? 0 : version->second,
                              options_.literal_rounding, constants);
  for (const auto& [node, text] : folded.notes) {
    index_ = static_cast<int>(node);
    Diagnostic& d = diags_.warning(where_node(nodes[node]), "onnx-bias", text);
    d.severity = Severity::kNote;
    d.help("quantise the model with a larger scale of the weights, or set the bias of this channel to 0");
  }
  index_ = -1;
  nodes = std::move(folded.nodes);
  return good;
}

}  // namespace aotc::frontends::onnx
