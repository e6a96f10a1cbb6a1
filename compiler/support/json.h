// SPDX-License-Identifier: Apache-2.0
// Parses and prints JSON without exceptions: for invalid text, parse_json returns the problem with its position. Only
// json.cpp instantiates the parser and printer of nlohmann/json, because each instantiation takes seconds to compile.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "support/text.h"

namespace aotc {

// Why a text is not valid JSON, and where. Numbers that exceed double (1e400) and more than 256 levels of nesting are
// problems as well.
struct JsonProblem {
  std::string what;  // may quote the text: escape before showing it
  TextPlace place;
  bool is_number = false;  // true if the only mistake is a number out of range
};

// Parses `text` into `out`. If the text has a problem, returns the problem and sets `out` to null. A NUL byte is a
// problem, not the end of the text.
std::optional<JsonProblem> parse_json(std::string_view text, nlohmann::json& out);
std::optional<JsonProblem> parse_json(std::string_view text, nlohmann::ordered_json& out);

// Returns the message of a JSON library exception without the prefix that names the exception and its position. `what`:
// "[json.exception.type_error.302] type must ...".
std::string json_reason(std::string_view what);

enum class JsonCharacters { kUtf8, kAscii };  // kAscii: non-ASCII characters become \uXXXX

// Prints a value. `indent`: blanks per level; -1: everything on one line. Bytes that are not UTF-8 become U+FFFD.
std::string json_text(const nlohmann::json& value, int indent = -1, JsonCharacters characters = JsonCharacters::kUtf8);
std::string json_text(const nlohmann::ordered_json& value, int indent = -1,
                      JsonCharacters characters = JsonCharacters::kUtf8);

}  // namespace aotc
