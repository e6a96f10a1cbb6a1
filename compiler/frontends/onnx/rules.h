// SPDX-License-Identifier: Apache-2.0
// Import rules: each rule converts one ONNX operator to operators of aotc's graph. A rule is a row in a table and
// applies from one version of the ONNX operator set on. If a later version changes the operator, the table has another
// row or the rule tests `version()`.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/onnx/builder.h"
#include "frontends/onnx/messages.h"

namespace aotc::frontends::onnx {

// Call: one operator of the file, as its rule sees it. A Call records which inputs and attributes the rule reads. It
// refuses the operator if the rule has not read every input and attribute (asked.cpp).
class Call {
 public:
  Call(Builder& builder, const Node& node, int64_t version, std::vector<Id> inputs, TensorReader& tensors)
      : b(builder),
        node_(node),
        version_(version),
        inputs_(std::move(inputs)),
        asked_inputs_(inputs_.size(), false),
        asked_(node.attributes.size(), false),
        outputs_(node.outputs.size()),
        tensors_(tensors) {}

  Builder& b;

  std::string_view op() const { return node_.type; }
  int64_t version() const { return version_; }

  size_t inputs() const { return inputs_.size(); }
  size_t outputs() const { return node_.outputs.size(); }
  bool has(size_t i) const {
    if (i >= inputs_.size()) return false;
    asked_inputs_[i] = true;
    return inputs_[i].valid();
  }
  // Stops (see Builder::stop) if the input is absent.
  Id in(size_t i);
  const std::vector<Id>& all() const { return inputs_; }
  const graph::Shape& shape(size_t i) { return b.shape(in(i)); }
  // True if the output exists and has a name.
  bool wants(size_t i) const { return i < node_.outputs.size() && !node_.outputs[i].empty(); }

  // Returns the attribute of this name, of any kind; null if absent. The functions below stop if the kind is wrong.
  const Attribute* find(std::string_view name) const {
    const Attribute* found = node_.find(name);
    if (found != nullptr) asked_[static_cast<size_t>(found - node_.attributes.data())] = true;
    return found;
  }
  int64_t i(std::string_view name, int64_t otherwise) const;
  float f(std::string_view name, float otherwise) const;
  std::string s(std::string_view name, std::string_view otherwise) const;
  std::optional<Ints> ints(std::string_view name) const;
  std::vector<float> reals(std::string_view name) const;
  Id tensor(const Attribute& attribute);

  // The elements of input i. Stops unless they are known at compile time; `what` names them in the message.
  Ints known_ints(size_t i, std::string_view what);
  std::optional<Ints> optional_ints(size_t i, std::string_view what);
  std::vector<float> known_floats(size_t i, std::string_view what);

  void out(size_t i, Id id) {
    if (i < outputs_.size()) outputs_[i] = id;
  }
  const std::vector<Id>& results() const { return outputs_; }

  // Marks attributes as read that have no effect in this combination.
  void pass_over(std::initializer_list<std::string_view> attributes) const {
    for (std::string_view name : attributes) (void)find(name);
  }
  void pass_over_input(size_t i) const { (void)has(i); }
  // Called after the rule: stops if the rule has not read every input and attribute.
  void check_all_asked();

  [[noreturn]] void ask_for(size_t i, std::string_view what);

  // Stops with the message that aotc does not support this form of the operator.
  [[noreturn]] void refuse(
      std::string message,
      std::string help = "export the model without this operator, or in a form that aotc supports");

 private:
  const Attribute* find(std::string_view name, AttributeKind kind) const;

  const Node& node_;
  int64_t version_;
  std::vector<Id> inputs_;
  mutable std::vector<bool> asked_inputs_, asked_;
  std::vector<Id> outputs_;
  TensorReader& tensors_;
};

struct Rule {
  std::string_view type;
  int64_t since;
  void (*import)(Call&);
  std::string_view domain = {};
};

// The rules of each family of operators; rules_<name>.cpp defines function <name>_rules.
std::span<const Rule> elementwise_rules();
std::span<const Rule> counted_rules();
std::span<const Rule> function_rules();
std::span<const Rule> reduction_rules();
std::span<const Rule> shape_rules();
std::span<const Rule> movement_rules();
std::span<const Rule> index_rules();
std::span<const Rule> product_rules();
std::span<const Rule> window_rules();
std::span<const Rule> normalisation_rules();
std::span<const Rule> attention_rules();
std::span<const Rule> classical_rules();
std::span<const Rule> label_rules();
std::span<const Rule> qlinear_rules();
std::span<const Rule> optimised_rules();
std::span<const Rule> quantize_rules();
std::span<const Rule> recurrent_rules();
std::span<const Rule> resize_rules();
std::span<const Rule> rotary_rules();
std::span<const Rule> fourier_rules();
std::span<const Rule> sampling_rules();
std::span<const Rule> training_rules();
std::span<const Rule> tree_rules();

// Properties of a rule. states_type: the rule sets the type of its results itself. takes_element: the operator supports
// operands of this element type. only_moves: results contain only elements of the operands. keeps_type: the result has
// the element type of the operands, integers included.
bool states_type(const Rule& rule);
bool takes_element(const Rule& rule, int32_t element);
bool only_moves(const Rule& rule);
bool keeps_type(const Rule& rule, size_t output);

// For attributes that no rule reads: true if the attribute does not affect results or has its default value.
bool has_no_effect(std::string_view type, const Attribute& attribute);

// Returns the rule with the highest `since` up to `version`; null if there is none. `domain`: "" for ai.onnx, else as
// in the file.
const Rule* find_rule(std::string_view domain, std::string_view type, int64_t version);

// Functions that the rules of several families share.
Id nchw_to_nhwc(Builder& b, Id x);
Id nhwc_to_nchw(Builder& b, Id x);
Id softmax_of(Builder& b, Id x, int64_t axis, bool logarithm);
// Softmax in the precision of `element`: for float16 and bfloat16, each step of the specification's definition is
// rounded.
Id softmax_as(Builder& b, Id x, int64_t axis, int32_t element);
Id less_than(Builder& b, Id a, double c);
Id select(Builder& b, Id condition, Id a, Id c);
// Limits floats to low .. high.
Id clamp(Builder& b, Id x, double low, double high);
Id reduce(Builder& b, std::string_view op, Id x, const Ints& axes, bool keep);
Id matmul(Builder& b, Id x, Id y);
// Applies the call's AveragePool to `x`, which has the shape of input 0.
Id average_of_windows(Call& c, Id x);

}  // namespace aotc::frontends::onnx
