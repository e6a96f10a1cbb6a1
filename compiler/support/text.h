// SPDX-License-Identifier: Apache-2.0
// Text functions: identifiers for C, suggestions for misspelled names, number formatting.
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

// Makes a valid lower-case C identifier from `name` (any bytes). Invalid characters become '_'. A leading digit gets a
// '_' before it, and a C keyword a '_' behind it. An empty result becomes `fallback`, and a long result is cut to 48
// characters. Different names may give the same identifier: see UniqueNames.
std::string c_identifier(std::string_view name, std::string_view fallback = "x");

// Returns the upper-case form of an identifier, for macros.
std::string upper(std::string_view identifier);

// Returns "KwsSmall" for "kws_small".
std::string camel_case(std::string_view identifier);

// Replaces '_' by '-', as in the names of project kinds and packages.
std::string dashed(std::string identifier);

// Joins the words, with `between` between them.
std::string joined(const std::vector<std::string>& words, const char* between = " ");

// Makes names unique: the second "a" becomes "a_2".
class UniqueNames {
 public:
  std::string make(std::string name);
  void reserve(std::string name) { used_.insert(std::move(name)); }

 private:
  std::unordered_set<std::string> used_;
  // By name that occurred more than once: the next number to try. It saves time if a model uses a name a thousand
  // times.
  std::unordered_map<std::string, int> next_;
};

// Makes any text of a model safe inside a C comment. Control characters, "*/", "/*", trigraphs and backslashes are
// changed so that they have no effect. The result is cut to `limit` bytes.
std::string c_comment_text(std::string_view text, size_t limit = 100);

// Returns at most `count` candidates with the smallest edit distance to `name`, best first. Candidates that differ in
// more than a third of their letters are omitted.
std::vector<std::string> closest(std::string_view name, const std::vector<std::string>& candidates, size_t count = 3);

// Line and column of a byte in a text, both counted from 1; columns count bytes.
struct TextPlace {
  int line = 1;
  int column = 1;
};
TextPlace place_of(std::string_view text, size_t offset);

// Replaces each placeholder in `word`, such as "{image}", by its value. Placeholders inside values are not replaced.
std::string filled_in(std::string_view word,
                      std::initializer_list<std::pair<std::string_view, std::string_view>> values);

// 1234567 -> "1,234,567".
std::string with_commas(int64_t value);

// The 64-bit FNV-1a hash of the bytes: equal on all platforms and in all runs.
uint64_t stable_hash(std::string_view bytes);
// The 32-bit FNV-1a hash; the C runtime computes the same hash on microcontrollers.
uint32_t fnv1a_32(std::string_view bytes);

}  // namespace aotc
