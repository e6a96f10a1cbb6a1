// SPDX-License-Identifier: Apache-2.0
#include "support/text.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace aotc {

namespace {

// C99 keywords and names that <stdint.h>, <string.h> and C++ make awkward as parameters.
constexpr std::string_view kReserved[] = {
    "alignas", "and",     "asm",      "auto",     "bool",    "break",     "case",   "catch",    "char",
    "class",   "compl",   "const",    "continue", "default", "delete",    "do",     "double",   "else",
    "enum",    "errno",   "explicit", "export",   "extern",  "false",     "float",  "for",      "friend",
    "goto",    "if",      "inline",   "int",      "linux",   "long",      "main",   "mutable",  "namespace",
    "new",     "not",     "operator", "or",       "private", "protected", "public", "register", "restrict",
    "return",  "short",   "signed",   "sizeof",   "static",  "struct",    "switch", "template", "this",
    "throw",   "true",    "try",      "typedef",  "typeid",  "typename",  "union",  "unix",     "unsigned",
    "using",   "virtual", "void",     "volatile", "while",   "xor"};

char ascii_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t above = row[j];
      size_t change = diagonal + (ascii_lower(a[i - 1]) == ascii_lower(b[j - 1]) ? 0 : 1);
      row[j] = std::min({row[j - 1] + 1, above + 1, change});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

std::string c_identifier(std::string_view name, std::string_view fallback) {
  std::string out;
  bool any = false;
  for (char c : name) {
    if (out.size() >= 48) break;
    char l = ascii_lower(c);
    bool keep = (l >= 'a' && l <= 'z') || (l >= '0' && l <= '9');
    any = any || keep;
    if (keep) {
      out += l;
    } else if (!out.empty() && out.back() != '_') {
      out += '_';
    }
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  if (!any || out.empty()) out = std::string(fallback);
  if (out[0] >= '0' && out[0] <= '9') out = "_" + out;
  if (std::find(std::begin(kReserved), std::end(kReserved), out) != std::end(kReserved)) out += '_';
  return out;
}

std::string upper(std::string_view identifier) {
  std::string out(identifier);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return out;
}

std::string UniqueNames::make(std::string name) {
  if (used_.insert(name).second) return name;
  int& n = next_.try_emplace(name, 2).first->second;
  while (true) {
    std::string candidate = name + "_" + std::to_string(n++);
    if (used_.insert(candidate).second) return candidate;
  }
}

std::string c_comment_text(std::string_view text, size_t limit) {
  std::string out;
  for (char c : text) {
    if (out.size() >= limit) return out + "...";
    unsigned char u = static_cast<unsigned char>(c);
    bool plain = u >= 0x20 && u < 0x7F && c != '\\' && c != '?';
    char put = plain ? c : '_';
    bool opens = !out.empty() && ((out.back() == '*' && put == '/') || (out.back() == '/' && put == '*') ||
                                  (out.back() == '/' && put == '/'));
    if (opens) out += ' ';
    out += put;
  }
  return out;
}

std::vector<std::string> closest(std::string_view name, const std::vector<std::string>& candidates, size_t count) {
  std::vector<std::pair<size_t, std::string>> ranked;
  for (const std::string& c : candidates) {
    size_t d = edit_distance(name, c);
    if (d * 3 <= std::max(name.size(), c.size()) + 1) ranked.emplace_back(d, c);
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> out;
  for (size_t i = 0; i < ranked.size() && i < count; ++i) out.push_back(ranked[i].second);
  return out;
}

TextPlace place_of(std::string_view text, size_t offset) {
  TextPlace place;
  for (char c : text.substr(0, offset))
    place = c == '\n' ? TextPlace{place.line + 1, 1} : TextPlace{place.line, place.column + 1};
  return place;
}

std::string filled_in(std::string_view word,
                      std::initializer_list<std::pair<std::string_view, std::string_view>> values) {
  std::string out;
  while (!word.empty()) {
    auto place = std::find_if(values.begin(), values.end(), [&](const auto& v) { return word.starts_with(v.first); });
    out += place == values.end() ? word.substr(0, 1) : place->second;
    word.remove_prefix(place == values.end() ? 1 : place->first.size());
  }
  return out;
}

std::string with_commas(int64_t value) {
  const auto bits = static_cast<uint64_t>(value);
  std::string digits = std::to_string(value < 0 ? 0 - bits : bits);  // INT64_MIN has no negative
  for (int i = static_cast<int>(digits.size()) - 3; i > 0; i -= 3) digits.insert(static_cast<size_t>(i), ",");
  return value < 0 ? "-" + digits : digits;
}

uint32_t fnv1a_32(std::string_view bytes) {
  uint32_t hash = 0x811C9DC5u;
  for (char c : bytes) hash = (hash ^ static_cast<uint8_t>(c)) * 0x01000193u;
  return hash;
}

std::string camel_case(std::string_view identifier) {
  std::string out;
  bool start = true;
  for (char c : identifier) {
    if (c != '_') out += start ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    start = c == '_';
  }
  return out;
}

std::string dashed(std::string identifier) {
  std::replace(identifier.begin(), identifier.end(), '_', '-');
  return identifier;
}

std::string joined(const std::vector<std::string>& words, const char* between) {
  return fmt::format("{}", fmt::join(words, between));
}

uint64_t stable_hash(std::string_view bytes) {
  uint64_t h = 14695981039346656037ull;
  for (char c : bytes) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return h;
}

}  // namespace aotc
