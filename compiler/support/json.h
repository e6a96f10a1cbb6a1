// SPDX-License-Identifier: Apache-2.0
// Parses and prints JSON; invalid text is returned as a problem with its position, nothing throws. The library's parser
// and printer are instantiated only here, because each instantiation takes seconds to compile.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "support/text.h"

namespace aotc {

// Why a text is not valid JSON, and its position. Numbers that no double can hold (1e400) and nesting beyond 256 levels
// are invalid as well.
struct JsonProblem {
  std::string what;  // may quote the text: escape before showing it
  TextPlace place;
  bool is_number = false;  // true if the only mistake is a number out of range
};

// Fills `out`; null on a problem. A NUL byte is a problem, not the end of the text.
std::optional<JsonProblem> parse_json(std::string_view text, nlohmann::json& out);
std::optional<JsonProblem> parse_json(std::string_view text, nlohmann::ordered_json& out);

// The message of an exception of the JSON library without its name and position: "[json.exception.type_error.302] type
// must ...".
std::string json_reason(std::string_view what);

enum class JsonCharacters { kUtf8, kAscii };  // kAscii: other characters are written as \uXXXX

// `indent`: blanks per level; -1: everything on one line. Strings that are not UTF-8 are repaired with U+FFFD.
std::string json_text(const nlohmann::json& value, int indent = -1, JsonCharacters characters = JsonCharacters::kUtf8);
std::string json_text(const nlohmann::ordered_json& value, int indent = -1,
                      JsonCharacters characters = JsonCharacters::kUtf8);

}  // namespace aotc
