// SPDX-License-Identifier: Apache-2.0
#include "driver/graph_model.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "frontends/graph_json/json.h"
#include "support/files.h"
#include "support/text.h"
#include "support/tvm_params.h"

namespace aotc::driver {

namespace {

namespace fs = std::filesystem;
using JsonValue = graph_json::Json;
using Kind = JsonValue::Kind;

constexpr uint64_t kMostDescriptionBytes = uint64_t{1} << 20;
constexpr const char* kHelp = "docs/custom-operators.md describes the members";

bool is_name(const std::string& text) {
  auto letter = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  return !text.empty() && text.size() < 256 && !std::isdigit(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(), letter);
}

class DescriptionReader {
 public:
  DescriptionReader(const std::string& path, Diagnostics& diags) : path_(path), diags_(diags) {}

  bool read(const std::string& text, ops::GivenOperators& out) {
    Diagnostics syntax;
    auto root = graph_json::parse_json(text, path_, syntax);
    for (const Diagnostic& d : syntax.all()) diags_.error(d.location, "operator-description", d.message).help(kHelp);
    if (!root || !object(*root, "the file", {"operators"})) return false;
    const JsonValue* list = member(*root, "operators", Kind::kArray, "a list");
    for (size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
      ops::GivenOperator made;
      if (!read_operator(list->items[i], made)) continue;
      if (const ops::GivenOperator* before = out.find(made.name)) {
        error(list->items[i], fmt::format("custom operator '{}' is described twice", escape_for_display(made.name)))
            .note(fmt::format("{}: described here, too", before->where.str()));
        continue;
      }
      out.list.push_back(std::move(made));
    }
    return good_;
  }

 private:
  Location place(const JsonValue& at) const {
    Location where;
    where.file = path_;
    where.line = at.at.line;
    where.column = at.at.column;
    return where;
  }
  Diagnostic& error(const JsonValue& at, const std::string& message) {
    good_ = false;
    return diags_.error(place(at), "operator-description", message).help(kHelp);
  }

  bool object(const JsonValue& j, const std::string& what, const std::vector<std::string>& keys) {
    if (!j.is(Kind::kObject)) return error(j, fmt::format("{} must be an object", what)), false;
    bool known = true;
    for (size_t i = 0; i < j.keys.size(); ++i) {
      if (std::find(keys.begin(), keys.end(), j.keys[i]) != keys.end()) continue;
      known = false;
      Diagnostic& d = error(j.items[i], fmt::format("{} has no member \"{}\"", what, escape_for_display(j.keys[i])));
      for (const std::string& near : closest(j.keys[i], keys)) d.help(fmt::format("did you mean \"{}\"?", near));
    }
    return known;
  }

  // A member that has to be there.
  const JsonValue* member(const JsonValue& j, const char* key, Kind kind, const char* what) {
    const JsonValue* found = j.find(key);
    if (found == nullptr) return error(j, fmt::format("\"{}\" is missing: {}", key, what)), nullptr;
    if (!found->is(kind)) return error(*found, fmt::format("\"{}\" must be {}", key, what)), nullptr;
    return found;
  }

  bool read_operator(const JsonValue& j, ops::GivenOperator& out) {
    if (!object(j, "an operator", {"custom", "function", "operands", "attributes", "parameters", "results"}))
      return false;
    out.where = place(j);
    names_.clear();
    const JsonValue* custom = member(j, "custom", Kind::kString, "the operator's name in the model");
    if (custom == nullptr) return false;
    out.name = custom->text;
    out.symbol = out.name;
    const JsonValue* function = j.find("function");
    if (function != nullptr && !function->is(Kind::kString))
      return error(*function, "\"function\" must be a string"), false;
    if (function != nullptr) out.symbol = function->text;
    if (!ops::is_c_symbol(out.symbol))
      return error(function ? *function : *custom,
                   fmt::format("'{}' cannot be the name of a C function", escape_for_display(out.symbol)))
                 .help("name the function: \"function\": \"...\""),
             false;
    return read_tensors(j, "operands", out.operands) && read_attributes(j, out) &&
           read_tensors(j, "results", out.results) && check_shapes(j, out) && read_parameters(j, out);
  }

  bool take_name(const JsonValue& j, std::string& name) {
    const JsonValue* text = member(j, "name", Kind::kString, "a name of letters, digits and '_'");
    if (text == nullptr) return false;
    name = text->text;
    if (!is_name(name) || name == "options")
      return error(*text, fmt::format("'{}' is not a valid name: use letters, digits and '_', but not 'options'",
                                      escape_for_display(name))),
             false;
    if (!names_.insert(name).second) return error(*text, fmt::format("the name '{}' is used twice", name)), false;
    return true;
  }

  bool take_type(const JsonValue& j, DType& dtype) {
    const JsonValue* text = member(j, "type", Kind::kString, "an element type such as \"int8\"");
    if (text == nullptr) return false;
    const auto named = tvm::data_type_from_name(text->text);
    const auto known = named ? named->dtype() : std::nullopt;
    // One spelling for each: TVM has others of the same meaning.
    if (known && tvm::DataType::of(*known).str() == text->text) return dtype = *known, true;
    error(*text, fmt::format("'{}' is not an element type", escape_for_display(text->text)))
        .note("element types: bool, int8, uint8, int16, uint16, int32, uint32, int64, float32, float64");
    return false;
  }

  bool read_tensors(const JsonValue& j, const char* key, std::vector<ops::GivenTensor>& out) {
    const bool results = std::string_view(key) == "results";
    const JsonValue* list = member(j, key, Kind::kArray, "a list of objects");
    if (list == nullptr) return false;
    if (list->items.empty()) return error(*list, fmt::format("\"{}\" is empty", key)), false;
    for (const JsonValue& item : list->items) {
      ops::GivenTensor tensor;
      tensor.where = place(item);
      std::vector<std::string> keys = {"name", "type"};
      if (results) keys.push_back("shape");
      if (!object(item, results ? "a result" : "an operand", keys) || !take_name(item, tensor.name) ||
          !take_type(item, tensor.dtype) || (results && !take_shape(item, tensor)))
        return false;
      out.push_back(std::move(tensor));
    }
    return true;
  }

  bool take_shape(const JsonValue& j, ops::GivenTensor& out) {
    const JsonValue* shape = j.find("shape");
    if (shape == nullptr)
      return error(j, "\"shape\" is missing: give the name of an operand, or a list of dimensions"), false;
    if (shape->is(Kind::kString)) return out.like = shape->text, out.where = place(*shape), true;
    if (!shape->is(Kind::kArray)) return error(*shape, "\"shape\" must be the name of an operand or a list"), false;
    for (const JsonValue& d : shape->items) {
      if (!d.is(Kind::kString) && !d.integer())
        return error(d, "a dimension must be an integer or an expression in quotes"), false;
      out.shape.emplace_back(d.text, place(d));
    }
    return true;
  }

  bool check_shapes(const JsonValue& j, const ops::GivenOperator& o) {
    for (const ops::GivenTensor& r : o.results) {
      if (r.like.empty() || index_of(o.operands, r.like)) continue;
      JsonValue at = j;
      at.at = {r.where.line, r.where.column};
      return error(at, fmt::format("there is no operand '{}'", escape_for_display(r.like))), false;
    }
    return true;
  }

  bool read_attributes(const JsonValue& j, ops::GivenOperator& out) {
    const JsonValue* list = j.find("attributes");
    if (list == nullptr) return true;
    if (!list->is(Kind::kArray)) return error(*list, "\"attributes\" must be a list of objects"), false;
    for (const JsonValue& item : list->items) {
      ops::GivenAttribute a;
      a.where = place(item);
      if (!object(item, "an attribute", {"name", "type", "default"}) || !take_name(item, a.name) ||
          !take_type(item, a.dtype) || !take_default(item, a))
        return false;
      out.attributes.push_back(std::move(a));
    }
    return true;
  }

  bool take_default(const JsonValue& item, ops::GivenAttribute& a) {
    const JsonValue* preset = item.find("default");
    if (preset == nullptr) return true;
    if (auto whole = preset->integer()) return a.preset = *whole, true;
    double value = 0;
    const char* end = preset->text.data() + preset->text.size();
    if (preset->is(Kind::kBool)) a.preset = int64_t{preset->text == "true"};
    else if (preset->is(Kind::kNumber) && std::from_chars(preset->text.data(), end, value).ptr == end &&
             is_float(a.dtype))
      a.preset = value;
    else return error(*preset, "\"default\" must be a number of the attribute's type"), false;
    return true;
  }

  template <typename T>
  static std::optional<size_t> index_of(const std::vector<T>& list, const std::string& name) {
    for (size_t i = 0; i < list.size(); ++i)
      if (list[i].name == name) return i;
    return std::nullopt;
  }

  bool read_parameters(const JsonValue& j, ops::GivenOperator& out) {
    using What = ops::GivenParameter::What;
    const JsonValue* list = j.find("parameters");
    if (list == nullptr) {
      for (size_t i = 0; i < out.operands.size(); ++i) out.parameters.push_back({What::kTensor, false, i});
      for (size_t i = 0; i < out.attributes.size(); ++i) out.parameters.push_back({What::kAttribute, false, i});
      return true;
    }
    if (!list->is(Kind::kArray)) return error(*list, "\"parameters\" must be a list of names"), false;
    size_t written = 0;
    for (const JsonValue& item : list->items) {
      if (!item.is(Kind::kString)) return error(item, "a parameter must be a name"), false;
      auto result = index_of(out.results, item.text);
      if (result && *result == written) {
        ++written;
        continue;
      }
      if (result || written > 0)
        return error(item, "results must be the last parameters of the function, in the order of \"results\""), false;
      auto parameter = parameter_of(item, out);
      if (!parameter) return false;
      out.parameters.push_back(*parameter);
    }
    if (written < out.results.size())
      return error(*list, fmt::format("result '{}' is missing: results must be the last parameters",
                                      out.results[written].name)),
             false;
    return true;
  }

  std::optional<ops::GivenParameter> parameter_of(const JsonValue& item, const ops::GivenOperator& o) {
    using What = ops::GivenParameter::What;
    const size_t dot = item.text.find('.');
    const std::string name = item.text.substr(0, dot);
    const std::string property = dot == std::string::npos ? "" : item.text.substr(dot + 1);
    if (item.text == "options") return ops::GivenParameter{What::kOptions, false, 0};
    if (auto attribute = index_of(o.attributes, item.text))
      return ops::GivenParameter{What::kAttribute, false, *attribute};
    const auto operand = index_of(o.operands, name), result = index_of(o.results, name);
    if (!operand && !result) {
      error(item, fmt::format("there is no operand, attribute or result '{}'", escape_for_display(name)));
      return std::nullopt;
    }
    const std::pair<const char*, What> properties[] = {
        {"", What::kTensor}, {"shape", What::kShape}, {"scale", What::kScale}, {"zero_point", What::kZeroPoint}};
    for (const auto& [text, what] : properties)
      if (property == text) return ops::GivenParameter{what, !operand, operand ? *operand : *result};
    error(item, fmt::format("'{}' has no '{}'", escape_for_display(name), escape_for_display(property)))
        .note("properties: .shape, .scale and .zero_point");
    return std::nullopt;
  }

  const std::string& path_;
  Diagnostics& diags_;
  bool good_ = true;
  std::set<std::string> names_;
};

}  // namespace

Result<OperatorFiles> operator_files(const std::vector<std::string>& given, Diagnostics& diags) {
  OperatorFiles out;
  auto add = [](std::vector<std::string>& list, const std::string& path) {
    if (std::find(list.begin(), list.end(), path) == list.end()) list.push_back(path);
  };
  for (const std::string& path : given) {
    if (path.ends_with(".json")) {
      add(out.descriptions, path);
      continue;
    }
    add(out.sources, path);
    const std::string beside = fs::path(path).replace_extension(".json").string();
    std::error_code ec;
    if (fs::is_regular_file(beside, ec)) add(out.descriptions, beside);
  }
  if (!given.empty() && (out.sources.empty() || out.descriptions.empty())) {
    Location where;
    where.file = given[0];
    diags
        .error(where, "operator-description",
               out.sources.empty() ? "the operators have a description but no C source"
                                   : "there is no description of the operators beside the C source")
        .help(out.sources.empty()
                  ? "pass the C source with --operators, too"
                  : fmt::format("write {}: {}", fs::path(given[0]).replace_extension(".json").string(), kHelp));
    return kFailure;
  }
  return out;
}

Status read_description(const std::string& path, ops::GivenOperators& out, Diagnostics& diags) {
  auto bytes = read_file(path, diags, kMostDescriptionBytes);
  if (!bytes) return kFailure;
  return DescriptionReader(path, diags).read({bytes->begin(), bytes->end()}, out) ? success() : Status(kFailure);
}

}  // namespace aotc::driver
