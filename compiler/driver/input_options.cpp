// SPDX-License-Identifier: Apache-2.0
#include "driver/input_options.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "support/npy.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

constexpr size_t kMostDimensions = 8;

// "1,98,40" or "1x98x40"; false if it is something else.
bool parse_shape(const std::string& text, graph::Shape& out) {
  size_t at = 0;
  while (true) {
    size_t end = std::min(text.find_first_of(",x", at), text.size());
    std::string digits = text.substr(at, end - at);
    bool number = !digits.empty() && digits.size() <= 9 && digits.find_first_not_of("0123456789") == std::string::npos;
    if (!number || std::stoll(digits) < 1 || out.size() == kMostDimensions) return false;
    out.push_back(std::stoll(digits));
    if (end == text.size()) return true;
    at = end + 1;
  }
}

}  // namespace

Result<std::map<std::string, graph::Shape>> parse_input_shapes(const std::vector<std::string>& texts,
                                                               Diagnostics& diags) {
  std::map<std::string, graph::Shape> out;
  Location where;
  where.file = "--shape";
  bool good = true;
  for (const std::string& text : texts) {
    // Names of tensors may have '='.
    size_t equals = text.rfind('=');
    std::string name = text.substr(0, std::min(equals, text.size()));
    graph::Shape shape;
    const char* why = nullptr;
    if (equals == std::string::npos || name.empty() || !parse_shape(text.substr(equals + 1), shape)) {
      why = "is not INPUT=SHAPE";
    } else if (!out.try_emplace(name, shape).second) {
      why = "gives an input a second shape";
    }
    if (why == nullptr) continue;
    diags.error(where, "shape-invalid", fmt::format("'{}' {}", escape_for_display(text), why))
        .help(
            "write the input's name and its dimensions, each at least 1: --shape "
            "input=1,98,40");
    good = false;
  }
  if (!good) return kFailure;
  return out;
}

Result<std::map<std::string, int64_t>> parse_dimensions(const std::vector<std::string>& texts, Diagnostics& diags) {
  std::map<std::string, int64_t> out;
  Location where;
  where.file = "--dim";
  bool good = true;
  for (const std::string& text : texts) {
    size_t equals = text.rfind('=');
    std::string name = text.substr(0, std::min(equals, text.size()));
    graph::Shape size;
    bool number =
        equals != std::string::npos && !name.empty() && parse_shape(text.substr(equals + 1), size) && size.size() == 1;
    if (number && out.try_emplace(name, size[0]).second) continue;
    diags
        .error(where, "shape-invalid",
               fmt::format("'{}' {}", escape_for_display(text),
                           number ? "gives a dimension a second size" : "is not NAME=SIZE"))
        .help("write the dimension's name and its size, at least 1: --dim batch=1");
    good = false;
  }
  if (!good) return kFailure;
  return out;
}

Result<std::map<std::string, std::string>> parse_input_values(const std::vector<std::string>& texts,
                                                              Diagnostics& diags) {
  std::map<std::string, std::string> out;
  Location where;
  where.file = "--value";
  bool good = true;
  for (const std::string& text : texts) {
    // A value has no '='.
    size_t equals = text.rfind('=');
    std::string name = text.substr(0, std::min(equals, text.size()));
    bool pair = equals != std::string::npos && !name.empty();
    if (pair && out.try_emplace(name, text.substr(equals + 1)).second) continue;
    diags
        .error(where, "value-invalid",
               fmt::format("'{}' {}", escape_for_display(text),
                           pair ? "gives an input a second value" : "is not INPUT=VALUE"))
        .help("write the input's name and its numbers: --value axes=[0,2]");
    good = false;
  }
  if (!good) return kFailure;
  return out;
}

namespace {

std::optional<size_t> find_port(const graph::Graph& graph, const std::vector<graph::Port>& ports,
                                const std::string& name) {
  for (size_t i = 0; i < ports.size(); ++i)
    if (ports[i].name == name || graph[ports[i].tensor].name == name) return i;
  for (size_t i = 0; i < ports.size(); ++i)
    if (c_identifier(ports[i].name) == name) return i;
  return std::nullopt;
}

struct Pair {
  size_t output = 0, input = 0;
  std::string file;
};

class PairReader {
 public:
  PairReader(const graph::Graph& graph, const std::string& text, Diagnostics& diags)
      : graph_(graph), text_(text), diags_(diags) {
    where_.file = "--state";
  }

  // Names may have '=' and '@': the first way to split the text into names that are there is taken.
  std::optional<Pair> read() {
    bool any = false;
    for (size_t equals = text_.find('='); equals != std::string::npos; equals = text_.find('=', equals + 1)) {
      any = true;
      auto output = find_port(graph_, graph_.outputs, text_.substr(0, equals));
      if (!output) continue;
      const std::string rest = text_.substr(equals + 1);
      for (size_t at = rest.size(); at != std::string::npos; at = rest.rfind('@', at - 1)) {
        auto input = find_port(graph_, graph_.inputs, rest.substr(0, at));
        if (input) return Pair{*output, *input, at < rest.size() ? rest.substr(at + 1) : ""};
        if (at == 0) break;
      }
    }
    any ? unknown() : malformed();
    return std::nullopt;
  }

  bool check_types(const Pair& pair) {
    const graph::TensorType& out = graph_[graph_.outputs[pair.output].tensor].type;
    const graph::TensorType& in = graph_[graph_.inputs[pair.input].tensor].type;
    if (out == in) return true;
    diags_
        .error(where_, "state-type",
               fmt::format("'{}': the output is {}, but the input is {}", escape_for_display(text_),
                           graph::to_string(out), graph::to_string(in)))
        .help(
            "the output and the input of a state need the same type, shape, scale and zero point: quantise both with "
            "one representative_dataset, or keep the state in the application");
    return false;
  }

  std::optional<std::vector<uint8_t>> initial(const Pair& pair) {
    auto array = read_npy(pair.file, diags_);
    if (!array) return std::nullopt;
    const graph::TensorType& type = graph_[graph_.inputs[pair.input].tensor].type;
    if (array->dtype == type.dtype && static_cast<int64_t>(array->bytes.size()) == type.bytes())
      return std::move(array->bytes);
    Location where;
    where.file = pair.file;
    diags_
        .error(where, "state-type",
               fmt::format("the initial value is {} of shape {}, but the state is {}", name_of(array->dtype),
                           graph::to_string(array->shape), graph::to_string(type)))
        .help("save the value with the element type and the shape of the input");
    return std::nullopt;
  }

 private:
  void malformed() {
    diags_.error(where_, "state-invalid", fmt::format("'{}' is not OUTPUT=INPUT", escape_for_display(text_)))
        .help(
            "name an output and the input that takes its value in the next run: --state new=old, or --state "
            "new=old@FILE.npy with the value for the first run");
  }
  void unknown() {
    Diagnostic& d =
        diags_.error(where_, "state-name",
                     fmt::format("'{}' must name an output and an input of the model that no other --state uses",
                                 escape_for_display(text_)));
    constexpr size_t kMost = 20;
    for (size_t i = 0; i < std::min(graph_.outputs.size(), kMost); ++i)
      d.note(fmt::format("output '{}': {}", escape_for_display(graph_.outputs[i].name),
                         graph::to_string(graph_[graph_.outputs[i].tensor].type)));
    for (size_t i = 0; i < std::min(graph_.inputs.size(), kMost); ++i)
      d.note(fmt::format("input '{}': {}", escape_for_display(graph_.inputs[i].name),
                         graph::to_string(graph_[graph_.inputs[i].tensor].type)));
    d.help("name one of these outputs and one of these inputs; each can be in one pair only");
  }

  const graph::Graph& graph_;
  const std::string& text_;
  Diagnostics& diags_;
  Location where_;
};

}  // namespace

Status pair_states(graph::Graph& graph, const std::vector<std::string>& texts, InitialValues& known,
                   Diagnostics& diags) {
  for (const std::string& text : texts) {
    PairReader reader(graph, text, diags);
    auto pair = reader.read();
    if (!pair || !reader.check_types(*pair)) return kFailure;
    if (!pair->file.empty() && !known.contains(text)) {
      auto bytes = reader.initial(*pair);
      if (!bytes) return kFailure;
      known[text] = std::move(*bytes);
    }
    auto initial = known.find(text);
    graph::pair_state(graph, pair->output, pair->input,
                      initial != known.end() ? initial->second : std::vector<uint8_t>());
  }
  return success();
}

}  // namespace aotc::driver
