// SPDX-License-Identifier: Apache-2.0
// JSON that a user wrote: what is wrong with it, and where. The one thing to know: no text makes
// this throw, also none that is well formed but holds a number that no double holds (1e400).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "support/text.h"

namespace aotc {

struct JsonProblem {
  std::string what;  // "a number is out of range: 1e400", or the library's words
  TextPlace place;
  bool is_number = false;  // the text is well formed but for a number
};

// Nothing if the text is JSON, which is then in `out`.
std::optional<JsonProblem> read_json(std::string_view text, nlohmann::json& out);
std::optional<JsonProblem> read_json(std::string_view text, nlohmann::ordered_json& out);

}  // namespace aotc
