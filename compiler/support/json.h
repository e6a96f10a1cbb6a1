// SPDX-License-Identifier: Apache-2.0
// JSON texts in and out. Parsing and printing are compiled here, once: each file that calls them by
// itself compiles the library's parser and printer again, which takes seconds. The one thing to
// know: what is no JSON comes back as a problem with its place; nothing throws.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "support/text.h"

namespace aotc {

// Why a text is no JSON, and where. Numbers that no double can hold (1e400) are such a reason, too, and nesting that
// nobody writes (256 levels).
struct JsonProblem {
  std::string what;  // may quote the text: escape before showing it
  TextPlace place;
  bool is_number = false;  // the text is well formed but for a number
};

// Fills `out`; on a problem it is null. A NUL byte does not end the text, it is a problem.
std::optional<JsonProblem> parse_json(std::string_view text, nlohmann::json& out);
std::optional<JsonProblem> parse_json(std::string_view text, nlohmann::ordered_json& out);

// The reason in an exception of the JSON library, without its name and place, such as
// "[json.exception.type_error.302]".
std::string json_reason(std::string_view what);

enum class JsonCharacters { kUtf8, kAscii };  // kAscii: others are written as \uXXXX

// `indent` blanks a level, -1: all on one line. Strings that are no UTF-8 are repaired with U+FFFD.
std::string json_text(const nlohmann::json& value, int indent = -1,
                      JsonCharacters characters = JsonCharacters::kUtf8);
std::string json_text(const nlohmann::ordered_json& value, int indent = -1,
                      JsonCharacters characters = JsonCharacters::kUtf8);

}  // namespace aotc
