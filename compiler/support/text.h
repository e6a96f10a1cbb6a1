// SPDX-License-Identifier: Apache-2.0
// Small text functions: identifiers for C, closest-name suggestions, number formatting.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace aotc {

// A legal, lower-case C identifier made from `name` (any bytes). Other characters become '_'; a leading digit gets a
// '_' before it, a C keyword a '_' behind it; an empty result becomes `fallback`; the result is cut at 48 characters.
// Different names may give the same identifier: see UniqueNames.
std::string c_identifier(std::string_view name, std::string_view fallback = "x");

// Upper-case form of an identifier for macros.
std::string upper(std::string_view identifier);

// "kws_small" as "KwsSmall".
std::string camel_case(std::string_view identifier);

// '_' becomes '-': the spelling of project kinds and package names.
std::string dashed(std::string identifier);

// Joins the words with `between`.
std::string joined(const std::vector<std::string>& words, const char* between = " ");

// Makes names unique: the second "a" becomes "a_2".
class UniqueNames {
 public:
  std::string make(std::string name);
  void reserve(std::string name) { used_.insert(std::move(name)); }

 private:
  std::unordered_set<std::string> used_;
  // The next number to try for each repeated name. A model may use one name a thousand times.
  std::unordered_map<std::string, int> next_;
};

// Makes text safe for a C comment, whatever the model contains: control characters, "*/", "/*", trigraphs and
// backslashes are broken up; the result is cut at `limit` bytes.
std::string c_comment_text(std::string_view text, size_t limit = 100);

// At most `count` candidates closest to `name` by edit distance, best first; none that differs in more than a third of
// its letters.
std::vector<std::string> closest(std::string_view name, const std::vector<std::string>& candidates, size_t count = 3);

// Line and column, both from 1, of the byte at `offset`; columns count bytes.
struct TextPlace {
  int line = 1;
  int column = 1;
};
TextPlace place_of(std::string_view text, size_t offset);

// Replaces each placeholder (such as "{image}") in a word by its value; placeholders inside values are not replaced.
std::string filled_in(std::string_view word,
                      std::initializer_list<std::pair<std::string_view, std::string_view>> values);

// 1234567 -> "1,234,567".
std::string with_commas(int64_t value);

// FNV-1a over the bytes: stable across platforms and runs.
uint64_t stable_hash(std::string_view bytes);
// The same with 32 bits, which microcontrollers compute as well.
uint32_t fnv1a_32(std::string_view bytes);

}  // namespace aotc
