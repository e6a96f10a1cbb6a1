// SPDX-License-Identifier: Apache-2.0
#include "support/json_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace aotc {

namespace {

// The library's own builder of values; only what it does with a mistake is another thing.
template <typename Json>
class Builder : public nlohmann::detail::json_sax_dom_parser<Json> {
 public:
  Builder(std::string_view text, Json& out)
      : nlohmann::detail::json_sax_dom_parser<Json>(out, false), text_(text) {}

  bool parse_error(size_t behind, const std::string& token, const nlohmann::detail::out_of_range&) {
    problem_ = JsonProblem{"a number is out of range: " + token.substr(0, 40),
                           place_of(text_, behind - std::min(behind, token.size())), true};
    return false;
  }
  template <typename Exception>
  bool parse_error(size_t behind, const std::string&, const Exception& error) {
    problem_ =
        JsonProblem{error.what(), place_of(text_, behind - std::min<size_t>(behind, 1)), false};
    return false;
  }

  std::optional<JsonProblem> take() { return std::move(problem_); }

 private:
  std::string_view text_;
  std::optional<JsonProblem> problem_;
};

template <typename Json>
std::optional<JsonProblem> read(std::string_view text, Json& out) {
  Builder<Json> builder(text, out);
  Json::sax_parse(text, &builder);
  return builder.take();
}

}  // namespace

std::optional<JsonProblem> read_json(std::string_view text, nlohmann::json& out) {
  return read(text, out);
}

std::optional<JsonProblem> read_json(std::string_view text, nlohmann::ordered_json& out) {
  return read(text, out);
}

}  // namespace aotc
