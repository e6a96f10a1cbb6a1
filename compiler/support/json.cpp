// SPDX-License-Identifier: Apache-2.0
#include "support/json.h"

#include <algorithm>
#include <string>

#include <nlohmann/json.hpp>

namespace aotc {

namespace {

// The library's own builder of values; only what it does with a mistake is another thing: its
// exception for numbers does not say where they are.
template <typename J>
class Builder : public nlohmann::detail::json_sax_dom_parser<J> {
 public:
  Builder(std::string_view text, J& out) : nlohmann::detail::json_sax_dom_parser<J>(out, false), text_(text) {}

  bool parse_error(size_t behind, const std::string& token, const nlohmann::detail::out_of_range& /*error*/) {
    problem_ = JsonProblem{"a number is out of range: " + token.substr(0, 40),
                           place_of(text_, behind - std::min(behind, token.size())), true};
    return false;
  }
  template <typename Exception>
  bool parse_error(size_t behind, const std::string& /*token*/, const Exception& error) {
    problem_ = JsonProblem{json_reason(error.what()), place_of(text_, behind - std::min<size_t>(behind, 1)), false};
    return false;
  }

  std::optional<JsonProblem> take() { return std::move(problem_); }

 private:
  std::string_view text_;
  std::optional<JsonProblem> problem_;
};

// Values are compared, copied and printed by functions that call themselves.
constexpr int kMostDepth = 256;

// Are there so many openings? Searched for, not looked at one by one: most texts have few.
bool may_be_too_deep(std::string_view text) {
  int count = 0;
  for (const char opening : {'[', '{'})
    for (size_t at = text.find(opening); at != std::string_view::npos; at = text.find(opening, at + 1))
      if (++count > kMostDepth) return true;
  return false;
}

// Where a text is nested deeper than that; npos if nowhere.
size_t too_deep(std::string_view text) {
  if (!may_be_too_deep(text)) return std::string_view::npos;
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') ++i;
    else if (c == '"') quoted = !quoted;
    else if (!quoted && (c == '[' || c == '{') && ++depth > kMostDepth) return i;
    else if (!quoted && (c == ']' || c == '}')) --depth;
  }
  return std::string_view::npos;
}

template <typename J>
std::optional<JsonProblem> parse(std::string_view text, J& out) {
  out = nullptr;
  const size_t nul = text.find('\0'), deep = too_deep(text);
  if (nul != std::string_view::npos) return JsonProblem{"a NUL byte", place_of(text, nul)};
  if (deep != std::string_view::npos)
    return JsonProblem{"nested deeper than " + std::to_string(kMostDepth), place_of(text, deep)};
  Builder<J> builder(text, out);
  J::sax_parse(text, &builder);
  auto problem = builder.take();
  if (problem) out = nullptr;
  return problem;
}

template <typename J>
std::string print(const J& value, int indent, JsonCharacters characters) {
  return value.dump(indent, ' ', characters == JsonCharacters::kAscii, J::error_handler_t::replace);
}

}  // namespace

std::string json_reason(std::string_view what) {
  constexpr std::string_view kName = "[json.exception.", kPlace = "parse error at line ";
  if (what.starts_with(kName))
    if (const size_t behind = what.find("] "); behind != std::string_view::npos) what.remove_prefix(behind + 2);
  if (what.starts_with(kPlace))
    if (const size_t behind = what.find(": "); behind != std::string_view::npos) what.remove_prefix(behind + 2);
  return std::string(what);
}

std::optional<JsonProblem> parse_json(std::string_view text, nlohmann::json& out) { return parse(text, out); }

std::optional<JsonProblem> parse_json(std::string_view text, nlohmann::ordered_json& out) { return parse(text, out); }

std::string json_text(const nlohmann::json& value, int indent, JsonCharacters characters) {
  return print(value, indent, characters);
}

std::string json_text(const nlohmann::ordered_json& value, int indent, JsonCharacters characters) {
  return print(value, indent, characters);
}

}  // namespace aotc
