// SPDX-License-Identifier: Apache-2.0
// JSON values with their line and column, parsed and printed without loss. Numbers keep their text; `integer()` returns
// the value if it fits int64_t.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/diagnostics.h"
#include "support/result.h"

namespace aotc::graph_json {

// A position in the text: line and column, counted from 1; columns count bytes. 0 and 0: aotc created the value.
struct Position {
  int line = 0;
  int column = 0;
};

struct Json {
  enum class Kind : uint8_t { kNull, kBool, kNumber, kString, kArray, kObject };

  Kind kind = Kind::kNull;
  Position at;
  std::string text;               // text of a string, number ("1e3") or bool ("true")
  std::vector<Json> items;        // elements of an array; values of an object, in the order of `keys`
  std::vector<std::string> keys;  // keys of an object: distinct, in the order of the text

  static Json string(std::string text);
  static Json number(int64_t value);
  static Json array(std::vector<Json> items = {});
  static Json object();

  bool is(Kind k) const { return kind == k; }
  // nullopt if the number has a fraction or exponent, or does not fit int64_t.
  std::optional<int64_t> integer() const;
  const Json* find(std::string_view key) const;
  void add(std::string key, Json value);
  // The kind of the value, for messages: "a number", "a list".
  const char* kind_name() const;
};

// With these limits, memory and time are proportional to the text even for malicious files.
inline constexpr size_t kMostJsonBytes = size_t{32} << 20;
inline constexpr size_t kMostJsonValues = 2'000'000;
inline constexpr size_t kMostJsonDepth = 64;

// Reports [graph-syntax] at the first mistake or repeated key, or [graph-limit].
Result<Json> parse_json(const std::string& text, const std::string& file, Diagnostics& diags);

// Prints the value as TVM does: one entry per line, indented by two spaces per level, with a space after each comma.
// `flat`: everything on one line. `indent`: the indentation of the line on which the value ends.
std::string print_json(const Json& value);
void print_json(const Json& value, int indent, bool flat, std::string& out);
// Prints the value on one line without blanks.
std::string print_json_compact(const Json& value);

}  // namespace aotc::graph_json
