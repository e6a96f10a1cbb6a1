// SPDX-License-Identifier: Apache-2.0
#include "support/json.h"

#include <nlohmann/json.hpp>

namespace aotc {

namespace {

template <typename J>
std::optional<JsonProblem> parse(std::string_view text, J& out) {
  out = nullptr;
  const size_t nul = text.find('\0');
  if (nul != std::string_view::npos) return JsonProblem{"a NUL byte", place_of(text, nul)};
  try {
    out = J::parse(text);
    return std::nullopt;
  } catch (const typename J::parse_error& e) {
    return JsonProblem{e.what(), place_of(text, e.byte > 0 ? e.byte - 1 : 0)};
  } catch (const typename J::exception& e) {
    return JsonProblem{e.what(), {}};
  }
}

template <typename J>
std::string print(const J& value, int indent, JsonCharacters characters) {
  return value.dump(indent, ' ', characters == JsonCharacters::kAscii, J::error_handler_t::replace);
}

}  // namespace

std::optional<JsonProblem> parse_json(std::string_view text, nlohmann::json& out) {
  return parse(text, out);
}

std::optional<JsonProblem> parse_json(std::string_view text, nlohmann::ordered_json& out) {
  return parse(text, out);
}

std::string json_text(const nlohmann::json& value, int indent, JsonCharacters characters) {
  return print(value, indent, characters);
}

std::string json_text(const nlohmann::ordered_json& value, int indent, JsonCharacters characters) {
  return print(value, indent, characters);
}

}  // namespace aotc
