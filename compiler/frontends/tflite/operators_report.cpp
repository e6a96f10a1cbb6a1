// SPDX-License-Identifier: Apache-2.0
// What keeps operators from compiling, told in as few messages as say it: those that aotc does not
// have as one, those that fail for how the whole model was quantised as one, the rest by cause.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/tflite/builtin_names.h"
#include "frontends/tflite/operators.h"

namespace aotc::frontends {

namespace {

namespace schema = tflite_schema;

// "CONV_2D (12), MEAN", in order of appearance.
std::string type_counts(const std::vector<std::string>& types) {
  std::vector<std::pair<std::string, int>> counts;
  for (const std::string& type : types) {
    auto found = std::find_if(counts.begin(), counts.end(), [&](const auto& entry) { return entry.first == type; });
    if (found == counts.end()) counts.emplace_back(type, 1);
    else ++found->second;
  }
  std::string out;
  for (size_t i = 0; i < counts.size() && i < 12; ++i) {
    out += (i > 0 ? ", " : "") + escape_for_display(counts[i].first);
    if (counts[i].second > 1) out += fmt::format(" ({})", counts[i].second);
  }
  return counts.size() > 12 ? out + ", ..." : out;
}

// A message without what it says of one operator: the names in quotes.
std::string without_names(const std::string& message) {
  std::string out;
  bool quoted = false;
  for (char c : message) {
    if (c == '\'') quoted = !quoted;
    else if (!quoted) out += c;
  }
  return out;
}

// "the same for 14 more of this type: op 5, 9, ..."
std::string others_text(const std::vector<size_t>& others) {
  std::string list;
  for (size_t i = 0; i < others.size() && i < 10; ++i) list += fmt::format("{}{}", i > 0 ? ", " : "", others[i]);
  return fmt::format("the same for {} more of this type: op {}{}", others.size(), list,
                     others.size() > 10 ? ", ..." : "");
}

// What to do about families of operators that no microcontroller runs.
struct Family {
  const char* prefix;  // of the type
  const char* note;
  const char* help;
};
constexpr Family kFamilies[] = {
    {"Flex", "Flex operators run in TensorFlow itself, which does not run on microcontrollers",
     "convert without tf.lite.OpsSet.SELECT_TF_OPS: the converter then names the layers that need these operators; "
     "replace those layers"},
    {"HASHTABLE", "the entries of hash tables are in memory that TensorFlow manages",
     "convert text to numbers in your own code, and export only the part of the model that follows this step"},
    {"ethos-u", "the file is Vela's output: it holds commands for an Ethos-U, not operators",
     "give aotc the original .tflite model, before Vela compiled it"},
    {"edgetpu-custom-op", "the file is the Edge TPU compiler's output: it holds a program for that chip, not operators",
     "give aotc the original .tflite model, before edgetpu_compiler compiled it"},
};

}  // namespace

std::string OperatorReader::count_text() const {
  return fmt::format("{} of {} operators compile", resolved_.size() - failing(), resolved_.size());
}

// One operator: the error stands at it. Several: the error stands at the file and lists them.
void OperatorReader::report_unsupported(Diagnostics& diags) const {
  if (unsupported_.empty()) return;
  bool one = unsupported_.size() == 1;
  std::string what = fmt::format("{} operators are not supported", unsupported_.size());
  if (one) what = unsupported_[0].reason.empty() ? "operator is not supported" : "operator " + unsupported_[0].reason;
  Diagnostic& d = diags.error(one ? where(unsupported_[0].index) : source_.where(), "op-unsupported", what);
  std::vector<std::string> types, customs;
  std::vector<const Family*> families;
  for (size_t i = 0; i < unsupported_.size(); ++i) {
    Location at = where(unsupported_[i].index);
    const std::string& reason = unsupported_[i].reason;
    if (!one && i < limits::kMaxListed) {
      d.note(fmt::format("op {} {} '{}'{}{}", at.op_index, escape_for_display(at.op_type),
                         escape_for_display(at.tensor), reason.empty() ? "" : " ", reason));
    }
    const Family* family = nullptr;
    for (const Family& f : kFamilies)
      if (at.op_type.starts_with(f.prefix)) family = &f;
    if (family && std::find(families.begin(), families.end(), family) == families.end()) families.push_back(family);
    bool named = std::find(types.begin(), types.end(), at.op_type) != types.end();
    if (!family && reason.empty() && types.size() < 5 && !named) {
      types.push_back(at.op_type);
      if (resolved_[unsupported_[i].index].builtin == kTfliteCustom) customs.push_back(at.op_type);
    }
  }
  if (!one && unsupported_.size() > limits::kMaxListed)
    d.note(fmt::format("and {} more", unsupported_.size() - limits::kMaxListed));
  for (const Family* family : families) d.note(family->note);
  d.note(count_text());
  for (const Family* family : families) d.help(family->help);
  for (const std::string& type : types) {
    if (std::find(customs.begin(), customs.end(), type) != customs.end())
      d.help(fmt::format("'{}' is a custom operator: pass its C code with --operators (docs/custom-operators.md)",
                         escape_for_display(type)));
    else
      d.help(fmt::format("'aotc ops --like {}' lists similar operators that are supported", escape_for_display(type)));
  }
}

// How the model was quantised, if that is why the operator's types are not taken.
OperatorReader::Kind OperatorReader::kind_of(const Failed& failed) const {
  bool types = std::any_of(failed.told.all().begin(), failed.told.all().end(),
                           [](const Diagnostic& d) { return d.slug == "op-type"; });
  if (!types) return Kind::kOther;
  bool uint8 = false, int8 = false;
  auto look = [&](const flatbuffers::Vector<int32_t>* list) {
    for (uint32_t i = 0; i < length(list); ++i) {
      if (list->Get(i) < 0) continue;
      const schema::Tensor& tensor = *raw_tensor(list->Get(i));
      bool quantized = tensor.quantization() && length(tensor.quantization()->scale()) > 0;
      uint8 = uint8 || (quantized && tensor.type() == schema::TensorType_UINT8);
      int8 = int8 || (quantized && tensor.type() == schema::TensorType_INT8);
    }
  };
  look(raw(failed.index).inputs());
  look(raw(failed.index).outputs());
  const auto* operands = raw(failed.index).inputs();
  // An IF may have none, and what is wrong may be within it.
  if (length(raw(failed.index).outputs()) == 0) return Kind::kOther;
  bool float_in = length(operands) > 0 && operands->Get(0) >= 0 &&
                  raw_tensor(operands->Get(0))->type() == schema::TensorType_FLOAT32;
  bool float_out = raw_tensor(raw(failed.index).outputs()->Get(0))->type() == schema::TensorType_FLOAT32;
  if (uint8) return Kind::kUint8;
  return int8 && float_in && float_out ? Kind::kDynamicRange : Kind::kOther;
}

void OperatorReader::report_kind(Kind kind, const std::vector<const Failed*>& ops, Diagnostics& diags) const {
  const char* what = nullptr;
  std::vector<const char*> helps;
  switch (kind) {
    case Kind::kUint8:
      what =
          "the model is quantised to uint8, as older converters do, but aotc does not support uint8 in these operators";
      helps = {
          "convert the float model again with converter.target_spec.supported_ops = "
          "[tf.lite.OpsSet.TFLITE_BUILTINS_INT8] and a representative_dataset"};
      break;
    case Kind::kDynamicRange:
      what =
          "the model has float activations and int8 weights (dynamic range quantisation), which aotc does not support "
          "in these operators";
      helps = {"for int8: give the converter a representative_dataset (full integer quantisation)",
               "for float32: do not set 'converter.optimizations'"};
      break;
    case Kind::kOther: return;
  }
  Diagnostic& d = diags.error(source_.where(), "model-types", what);
  std::vector<std::string> types;
  for (const Failed* failed : ops) types.push_back(where(failed->index).op_type);
  d.note(fmt::format("{} operator{}: {}", ops.size(), ops.size() == 1 ? "" : "s", type_counts(types)));
  if (unsupported_.empty()) d.note(count_text());
  for (const char* help : helps) d.help(help);
}

// Those that fail with the same words are one message, at the first of them.
void OperatorReader::report_alike(const std::vector<const Failed*>& ops, Diagnostics& diags) const {
  struct Group {
    const Failed* first;
    std::vector<size_t> others;
  };
  std::vector<Group> groups;
  std::map<std::string, size_t> group_of;
  for (const Failed* failed : ops) {
    // Nothing was told: a tensor of it could not be read, which is told of the tensor.
    if (failed->told.all().empty()) continue;
    std::string key = where(failed->index).op_type;
    for (const Diagnostic& d : failed->told.all()) key += "\n" + d.slug + without_names(d.message);
    auto [entry, is_new] = group_of.try_emplace(key, groups.size());
    if (is_new) groups.push_back({failed, {}});
    else groups[entry->second].others.push_back(failed->index);
  }
  for (const Group& group : groups) {
    if (diags.error_count() >= limits::kMaxErrors) {
      diags.error(source_.where(), "tflite-limit", "too many errors; the others are omitted")
          .help("correct these first");
      return;
    }
    const std::vector<Diagnostic>& told = group.first->told.all();
    for (size_t i = 0; i + 1 < told.size(); ++i) append(diags, told[i]);
    Diagnostic last = told.back();
    if (!group.others.empty()) last.note(others_text(group.others));
    append(diags, last);
  }
}

void OperatorReader::report(Diagnostics& diags) const {
  std::vector<const Failed*> kinds[3];
  for (const Failed& failed : failed_) kinds[static_cast<size_t>(kind_of(failed))].push_back(&failed);
  auto& rest = kinds[static_cast<size_t>(Kind::kOther)];
  for (Kind kind : {Kind::kUint8, Kind::kDynamicRange}) {
    auto& ops = kinds[static_cast<size_t>(kind)];
    // One operator of another type says nothing of the model.
    bool whole = ops.size() > 1 || (!ops.empty() && kind == Kind::kDynamicRange);
    if (whole) {
      report_kind(kind, ops, diags);
    } else {
      rest.insert(rest.end(), ops.begin(), ops.end());
    }
  }
  std::sort(rest.begin(), rest.end(), [](const Failed* a, const Failed* b) { return a->index < b->index; });
  report_alike(rest, diags);
  for (const Diagnostic& d : other_.all()) append(diags, d);
}

}  // namespace aotc::frontends
