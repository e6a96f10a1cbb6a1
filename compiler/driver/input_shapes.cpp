// SPDX-License-Identifier: Apache-2.0
#include "driver/input_shapes.h"

#include <fmt/format.h>

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

}  // namespace aotc::driver
