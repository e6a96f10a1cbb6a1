// SPDX-License-Identifier: Apache-2.0
// LabelEncoder: keys to values. Where the values are strings, what comes out is their place in a list that users are
// told. ZipMap: scores with the names of their classes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "frontends/onnx/rules_ml.h"

namespace aotc::frontends::onnx {

namespace labels {

namespace {

constexpr int64_t kMostKeys = 4096;

struct List {
  Id numbers;
  std::vector<std::string> strings;
  bool found() const { return numbers.valid() || !strings.empty(); }
};

// One attribute of several types: "keys", "values".
List list_of(Call& c, const std::string& name) {
  Builder& b = c.b;
  List out;
  if (const Attribute* a = c.find(name + "_int64s"); a != nullptr && !a->ints.empty())
    out.numbers = b.int_list(a->ints);
  if (const Attribute* a = c.find(name + "_floats"); a != nullptr && !a->floats.empty())
    out.numbers = b.floats_of(a->floats, {static_cast<int64_t>(a->floats.size())});
  if (const Attribute* a = c.find(name + "_strings"); a != nullptr)
    out.strings.assign(a->strings.begin(), a->strings.end());
  if (const Attribute* a = c.find(name + "_tensor"); a != nullptr) {
    if (a->tensor && a->tensor->type == kString)
      out.strings.assign(a->tensor->strings.begin(), a->tensor->strings.end());
    else out.numbers = c.tensor(*a);
  }
  if (!out.found()) c.refuse(fmt::format("the operator has no {}", name));
  return out;
}

// The values, and behind them what keys that are not known have.
Id values_of(Call& c, int64_t count) {
  Builder& b = c.b;
  List values = list_of(c, "values");
  Id otherwise;
  const Attribute* other = c.find("default_tensor");
  const bool named =
      other != nullptr && other->tensor && other->tensor->type == kString && other->tensor->strings.size() == 1;
  if (other != nullptr && !named) otherwise = b.reshape(c.tensor(*other), {1});
  if (!values.strings.empty()) {
    std::vector<std::string> names;
    Ints places;
    values.strings.push_back(named ? std::string(other->tensor->strings[0]) : c.s("default_string", "_Unused"));
    for (const std::string& value : values.strings) {
      auto at = std::find(names.begin(), names.end(), value);
      places.push_back(at - names.begin());
      if (at == names.end()) names.push_back(value);
    }
    b.tell_labels(std::move(names));
    values.numbers = b.int_list(Ints(places.begin(), places.end() - 1));
    otherwise = b.int_list({places.back()});
  }
  Id list = values.numbers;
  if (b.dtype(list) != DType::kI64 && b.dtype(list) != DType::kF32 && b.dtype(list) != DType::kI16)
    c.refuse(fmt::format("values of type {} are not supported", element_type_name(b.element(list))));
  if (b.type(list).elements() != count)
    c.refuse(fmt::format("the operator has {} keys but {} values", count, b.type(list).elements()));
  if (!otherwise.valid())
    otherwise = b.dtype(list) == DType::kF32 ? b.floats_of({c.f("default_float", 0.0f)}, {1})
                                             : b.cast(b.int_list({c.i("default_int64", -1)}), b.dtype(list));
  if (b.dtype(otherwise) != b.dtype(list)) c.refuse("the default must have the same type as the values");
  return b.set_element(b.add("concatenation", {list, otherwise}, {{"axis", 0}}), b.element(list));
}

// The first key that is equal, else behind all.
void label_encoder(Call& c) {
  Builder& b = c.b;
  Id x = c.in(0);
  c.pass_over({"default_float", "default_int64", "default_string"});  // of other types than its values
  List keys = list_of(c, "keys");
  if (!keys.strings.empty())
    b.stop("onnx-type", "keys must be numbers, not strings", "map the strings to numbers before this operator");
  if (b.dtype(keys.numbers) != b.dtype(x)) c.refuse("the keys must have the same type as the operand");
  const int64_t count = b.type(keys.numbers).elements();
  if (b.rank(keys.numbers) != 1 || count > kMostKeys)
    c.refuse(fmt::format("the operator has {} keys, expected a list of at most {}", count, kMostKeys));
  Id values = values_of(c, count);
  graph::Shape column = b.shape(x);
  column.push_back(1);
  const int64_t axis = b.rank(x);
  Id wide = b.reshape(x, column);
  Id same = b.add("equal", {wide, keys.numbers}, {}, DType::kBool);
  if (auto floats = b.floats(keys.numbers)) {  // not a number is a key like others
    std::vector<uint8_t> nan;
    for (float f : *floats) nan.push_back(std::isnan(f) ? 1 : 0);
    if (std::find(nan.begin(), nan.end(), 1) != nan.end()) {
      Id none = b.add("not_equal", {wide, wide}, {}, DType::kBool);
      same = b.add("logical_or",
                   {same, b.add("logical_and", {none, b.constant(DType::kBool, {count}, nan)}, {}, DType::kBool)}, {},
                   DType::kBool);
    }
  }
  Id all = b.add("concatenation", {same, b.filled_int(DType::kBool, 1, column)}, {{"axis", axis}});
  Id place = b.add("arg_max", {all}, {{"axis", axis}}, DType::kI32);
  c.out(0, b.set_element(b.add("gather", {values, place}, {{"axis", 0}}), b.element(values)));
}

// The output is a list of dictionaries from class to score. C has no dictionaries, so the scores stay a table with one
// column for each class.
void zip_map(Call& c) {
  Builder& b = c.b;
  Id scores = c.in(0);
  std::vector<std::string> names;
  size_t classes = c.ints("classlabels_int64s").value_or(Ints{}).size();
  if (const Attribute* a = c.find("classlabels_strings"); a != nullptr && classes == 0) {
    names.assign(a->strings.begin(), a->strings.end());
    classes = names.size();
  }
  const int64_t columns = b.rank(scores) == 0 ? 0 : b.shape(scores).back();
  if (static_cast<int64_t>(classes) != columns)
    c.refuse(fmt::format("the operator has {} classes, but its operand has {} scores per row", classes, columns));
  // The list of labels that a LabelEncoder gives has one more entry, for keys that it does not know.
  const std::vector<std::string>& known = b.labels();
  if (known.empty() && !names.empty()) b.tell_labels(std::move(names));
  else if (!names.empty() && (known.size() < names.size() || !std::equal(names.begin(), names.end(), known.begin())))
    c.refuse("the classes must be in the same order as the labels");
  c.out(0, scores);
}

constexpr Rule kRules[] = {{"LabelEncoder", 2, label_encoder, classical::kDomain},
                           {"ZipMap", 1, zip_map, classical::kDomain}};

}  // namespace

}  // namespace labels

std::span<const Rule> label_rules() { return labels::kRules; }

}  // namespace aotc::frontends::onnx
