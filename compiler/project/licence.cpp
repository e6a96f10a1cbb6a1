// SPDX-License-Identifier: Apache-2.0
#include "project/template.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "support/text.h"

namespace aotc::project {

namespace {

// Words and brackets of an expression; empty if there is a character that no expression has.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out;
  bool inside = false;
  for (char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                        c == '.' || c == '+' || c == ':';
    if (!letter && c != ' ' && c != '(' && c != ')') return {};
    if (!letter || !inside) {
      if (c != ' ') out.emplace_back();
    }
    inside = letter;
    if (c != ' ') out.back() += c;
  }
  return out;
}

bool is_operator(const std::string& word) { return word == "AND" || word == "OR" || word == "WITH"; }

// A name of the list with an optional "+", LicenseRef-NAME, or DocumentRef-NAME:LicenseRef-NAME.
bool is_name(std::string word) {
  const size_t colon = word.find(':');
  if (word.starts_with("DocumentRef-") != (colon != std::string::npos)) return false;
  if (colon != std::string::npos) {
    if (colon == std::string_view("DocumentRef-").size()) return false;
    word = word.substr(colon + 1);
    if (!word.starts_with("LicenseRef-")) return false;
  }
  for (const char* none : {"and", "or", "with", "NONE", "NOASSERTION"})
    if (word == none) return false;
  if (word.starts_with("LicenseRef-")) return word.size() > 11 && word.find_first_of("+:") == std::string::npos;
  if (word.ends_with('+')) word.pop_back();
  auto outer = [](char c) { return c != '-' && c != '.'; };
  return !word.empty() && outer(word.front()) && outer(word.back()) && word.find_first_of("+:") == std::string::npos;
}

}  // namespace

bool is_licence_expression(std::string_view text) {
  if (text.size() > 200) return false;
  bool wanted = true;      // a name or a bracket comes next
  bool exception = false;  // the next name is an exception's
  bool plain = false;      // the last word was a licence, which may have an exception
  int depth = 0;
  for (const std::string& word : words_of(text)) {
    if (word == "(" && wanted && !exception) {
      ++depth;
    } else if (word == ")" && !wanted && depth > 0) {
      --depth;
      plain = false;
    } else if (is_operator(word) && !wanted && (word != "WITH" || plain)) {
      wanted = true;
      plain = false;
      exception = word == "WITH";
    } else if (word != "(" && word != ")" && !is_operator(word) && wanted && is_name(word)) {
      plain = !exception;
      wanted = exception = false;
    } else {
      return false;
    }
  }
  return !wanted && depth == 0;
}

Status check_licence(const std::string& licence, Diagnostics& diags) {
  if (licence.empty() || is_licence_expression(licence)) return success();
  Location where;
  where.file = "--license";
  diags.error(where, "license-form", fmt::format("'{}' is not an SPDX licence expression", escape_for_display(licence)))
      .help(
          "give an identifier, such as MIT, or several with AND, OR and WITH; for your own licence, use "
          "LicenseRef-NAME");
  return kFailure;
}

void add_licence_values(const std::string& licence, Values& values) {
  values.keys["license_id"] = licence.empty() ? "0BSD" : licence;
  values.keys["license_json"] = licence.empty() ? "" : fmt::format("  \"license\": \"{}\",", licence);
  values.keys["license_yaml"] = licence.empty() ? "" : fmt::format("license: \"{}\"", licence);
  values.keys["license_toml"] = licence.empty() ? "" : fmt::format("license = \"{}\"", licence);
  values.keys["license_text"] =
      licence.empty()
          ? "The code here was written by aotc and is 0BSD (SPDX): whoever has it may do with it what they like,\n"
            "without conditions. The tables of the network in it belong to whoever has the rights to the\n"
            "network, and with them the whole.\n\n"
            "Before you publish it, put the licence here under which you do."
          : fmt::format(
                "SPDX-License-Identifier: {}\n\n"
                "This project is under the licence that the SPDX list calls so. Put the text of that licence\n"
                "here, and who grants it, before you publish the project.\n\n"
                "What aotc wrote is yours without conditions (0BSD), so you may license it as you like. The\n"
                "tables of the network belong to whoever has the rights to the network.",
                licence);
}

std::string with_licence(std::string text, const std::string& licence) {
  static constexpr std::string_view kOurs = "SPDX-License-Identifier: 0BSD";
  if (licence.empty()) return text;
  const size_t at = text.find(kOurs);
  if (at != std::string::npos && std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') < 2)
    text.replace(at + kOurs.size() - 4, 4, licence);
  return text;
}

}  // namespace aotc::project
