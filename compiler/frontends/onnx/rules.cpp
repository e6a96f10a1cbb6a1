// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "frontends/onnx/qdq.h"

namespace aotc::frontends::onnx {

Id Call::in(size_t i) {
  if (has(i)) return inputs_[i];
  b.stop("onnx-invalid", fmt::format("input {} is missing", i), "the file is damaged; export the model again");
}

const Attribute* Call::find(std::string_view name, AttributeKind kind) const {
  const Attribute* a = find(name);
  if (a == nullptr || a->kind == kNoKind || a->kind == kind) return a;
  b.stop("onnx-invalid", fmt::format("attribute '{}' has the wrong type for this operator", name),
         "the file is damaged; export the model again");
}

int64_t Call::i(std::string_view name, int64_t otherwise) const {
  const Attribute* a = find(name, kWhole);
  return a == nullptr ? otherwise : a->i;
}

float Call::f(std::string_view name, float otherwise) const {
  const Attribute* a = find(name, kReal);
  return a == nullptr ? otherwise : a->f;
}

std::string Call::s(std::string_view name, std::string_view otherwise) const {
  const Attribute* a = find(name, kText);
  return std::string(a == nullptr ? otherwise : a->s);
}

std::optional<Ints> Call::ints(std::string_view name) const {
  const Attribute* a = find(name, kWholes);
  if (a == nullptr) return std::nullopt;
  return a->ints;
}

std::vector<float> Call::reals(std::string_view name) const {
  const Attribute* a = find(name, kReals);
  return a == nullptr ? std::vector<float>() : a->floats;
}

Id Call::tensor(const Attribute& attribute) {
  if (!attribute.tensor) refuse(fmt::format("attribute '{}' is not a tensor", attribute.name));
  graph::TensorType type;
  graph::ConstantView value;
  Diagnostics told;
  if (!tensors_.read(*attribute.tensor, b.where(), type, value, told)) {
    const Diagnostic& d = told.all().front();
    b.stop(d.slug, d.message, d.helps.empty() ? "" : d.helps.front());
  }
  Id id = b.constant(type.dtype, type.shape, {value.bytes.begin(), value.bytes.end()});
  return b.set_element(id, attribute.tensor->type);
}

void Call::ask_for(size_t i, std::string_view what) {
  b.stop("onnx-constant",
         fmt::format("{} (input {}, '{}') must be known at compile time", what, i,
                     escape_for_display(b.graph()[in(i)].name)),
         b.how_to_know(in(i)));
}

Ints Call::known_ints(size_t i, std::string_view what) {
  auto values = b.ints(in(i));
  if (!values) ask_for(i, what);
  return *values;
}

std::vector<float> Call::known_floats(size_t i, std::string_view what) {
  auto values = b.floats(in(i));
  if (!values) ask_for(i, what);
  return *values;
}

std::optional<Ints> Call::optional_ints(size_t i, std::string_view what) {
  if (!has(i)) return std::nullopt;
  return known_ints(i, what);
}

void Call::refuse(std::string message, std::string help) {
  b.stop("onnx-attribute", std::move(message), std::move(help));
}

const Rule* find_rule(std::string_view domain, std::string_view type, int64_t version) {
  using Key = std::pair<std::string_view, std::string_view>;
  static const std::multimap<Key, const Rule*> all = [] {
    std::multimap<Key, const Rule*> made;
    for (auto table :
         {counted_rules(),   elementwise_rules(), function_rules(),  reduction_rules(), shape_rules(),
          movement_rules(),  index_rules(),       product_rules(),   window_rules(),    normalisation_rules(),
          attention_rules(), classical_rules(),   fourier_rules(),   label_rules(),     optimised_rules(),
          qlinear_rules(),   quantize_rules(),    recurrent_rules(), resize_rules(),    rotary_rules(),
          sampling_rules(),  training_rules(),    tree_rules()})
      for (const Rule& rule : table) made.emplace(Key(rule.domain, rule.type), &rule);
    return made;
  }();
  const Rule* best = nullptr;
  auto [begin, end] = all.equal_range(Key(domain, type));
  for (auto at = begin; at != end; ++at)
    if (at->second->since <= version && (best == nullptr || at->second->since > best->since)) best = at->second;
  return best;
}

bool only_moves(const Rule& rule) {
  static const std::set<std::string_view> gathering = {"ArrayFeatureExtractor", "Compress", "Gather",
                                                       "GatherElements",        "GatherND", "ReverseSequence"};
  std::span<const Rule> moving = movement_rules();
  bool known = gathering.contains(rule.type) ||
               std::any_of(moving.begin(), moving.end(), [&](const Rule& r) { return &r == &rule; });
  return known && rule.type != "OneHot";
}

bool states_type(const Rule& rule) {
  static const std::set<std::string_view> casting = {"Cast", "CastLike", "EyeLike", "QuantizeLinear",
                                                     "DequantizeLinear"};
  return casting.contains(rule.type);
}

// Arithmetic on what carries them would not be theirs.
bool takes_element(const Rule& rule, int32_t element) {
  if (element == kString)
    return only_moves(rule) || rule.type == "Identity" || rule.type == "Shape" || rule.type == "Size";
  if (element != kUint64 && element != kInt4 && element != kUint4) return true;
  if (rule.domain == kGroups) return true;  // of constant weights
  static const std::set<std::string_view> any = {"Cast", "CastLike",       "Identity",        "Shape",
                                                 "Size", "QuantizeLinear", "DequantizeLinear"};
  static const std::set<std::string_view> whole = {"Add",
                                                   "Sub",
                                                   "Mul",
                                                   "Div",
                                                   "Mod",
                                                   "Max",
                                                   "Min",
                                                   "Sum",
                                                   "Equal",
                                                   "Less",
                                                   "LessOrEqual",
                                                   "Greater",
                                                   "GreaterOrEqual",
                                                   "BitwiseAnd",
                                                   "BitwiseOr",
                                                   "BitwiseXor",
                                                   "BitwiseNot",
                                                   "BitShift",
                                                   "Pow",
                                                   "Where",
                                                   "TopK",
                                                   "ReduceSum",
                                                   "CumSum",
                                                   "ConstantOfShape"};
  return any.contains(rule.type) || only_moves(rule) || (element == kUint64 && whole.contains(rule.type));
}

bool keeps_type(const Rule& rule, size_t output) {
  std::span<const Rule> all = elementwise_rules();
  bool known = std::any_of(all.begin(), all.end(), [&](const Rule& r) { return &r == &rule; });
  return output == 0 && (known || rule.type == "ReduceSum" || rule.type == "CumSum");
}

}  // namespace aotc::frontends::onnx
