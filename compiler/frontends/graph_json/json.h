// SPDX-License-Identifier: Apache-2.0
// JSON whose every value knows its line and column, read and printed without loss. The one thing to
// know: numbers keep their text; `integer()` says whether it is one that fits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/diagnostics.h"
#include "support/result.h"

namespace aotc::graph_json {

// In the text, both from 1; columns count bytes. 0: made by the program.
struct Position {
  int line = 0;
  int column = 0;
};

struct Json {
  enum class Kind : uint8_t { kNull, kBool, kNumber, kString, kArray, kObject };

  Kind kind = Kind::kNull;
  Position at;
  std::string text;               // of strings, numbers ("1e3") and bools ("true")
  std::vector<Json> items;        // of arrays; of objects beside `keys`
  std::vector<std::string> keys;  // of objects: unique, in the order of the text

  static Json string(std::string text);
  static Json number(int64_t value);
  static Json array(std::vector<Json> items = {});
  static Json object();

  bool is(Kind k) const { return kind == k; }
  // A number without fraction or exponent that fits.
  std::optional<int64_t> integer() const;
  const Json* find(std::string_view key) const;
  void add(std::string key, Json value);
  // "a number", "a list": for messages.
  const char* kind_name() const;
};

// Limits that keep memory and time in proportion, whatever the text says.
inline constexpr size_t kMostJsonBytes = size_t{32} << 20;
inline constexpr size_t kMostJsonValues = 2'000'000;
inline constexpr size_t kMostJsonDepth = 64;

// Reports [graph-syntax] at the place of the first mistake, or of a key that occurs twice, and
// [graph-limit].
Result<Json> parse_json(const std::string& text, const std::string& file, Diagnostics& diags);

// The same value as TVM would write it: an entry a line, two spaces deeper each, a blank behind
// commas; or all on one line (`flat`). `indent`: of the line that the value ends.
std::string print_json(const Json& value);
void print_json(const Json& value, int indent, bool flat, std::string& out);
// On one line without blanks.
std::string print_json_compact(const Json& value);

}  // namespace aotc::graph_json
