// SPDX-License-Identifier: Apache-2.0
// Prints and parses single values of the text forms: numbers, booleans, strings, lists of integers and names.
// `parse` returns false and changes nothing if the whole text is not such a value; parse(print(v)) gives v.
#pragma once

#include <charconv>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "support/dtype.h"

namespace aotc::text_value {

std::string print(bool value);
std::string print(int64_t value);
std::string print(float value);  // shortest text that parses to the same bits; inf, -inf, nan, nan(0x7fc00001)
std::string print(const std::string& value);  // quoted, escaped
std::string print(const std::vector<int64_t>& value);
std::string print(DType value);
bool parse(std::string_view text, bool& value);
bool parse(std::string_view text, float& value);
bool parse(std::string_view text, std::string& value);
bool parse(std::string_view text, std::vector<int64_t>& value);
bool parse(std::string_view text, DType& value);

// `format`: the base of an integer, or the std::chars_format of a float.
template <typename T, typename... Format>
bool parse_number(std::string_view text, T& value, Format... format) {
  const char* end = text.data() + text.size();
  T parsed{};
  auto [stop, error] = std::from_chars(text.data(), end, parsed, format...);
  if (error != std::errc() || stop != end || text.empty()) return false;
  value = parsed;
  return true;
}
inline bool parse(std::string_view text, int64_t& value) { return parse_number(text, value); }
inline bool parse(std::string_view text, int32_t& value) { return parse_number(text, value); }

// Appends the numbers between the separators, with or without white space around them.
bool parse_numbers(std::string_view text, char separator, std::vector<int64_t>& numbers);

// Value of a hexadecimal digit; -1 for another character.
int hex_digit(char c);
// The escape "\xNN" of a byte, and the byte of the escape at the start of a text; -1 if it begins with no escape.
std::string escape(char byte);
int escaped_byte(std::string_view text);

// For enums with an `enum_names` overload (graph/attributes.h) as well.
template <typename T>
std::string print_any(const T& value) {
  if constexpr (std::is_enum_v<T> && !std::is_same_v<T, DType>) {
    return std::string(enum_names(T{})[static_cast<size_t>(value)]);
  } else if constexpr (std::is_same_v<T, int32_t>) {
    return print(static_cast<int64_t>(value));
  } else {
    return print(value);
  }
}

template <typename T>
bool parse_any(std::string_view text, T& value) {
  if constexpr (std::is_enum_v<T> && !std::is_same_v<T, DType>) {
    const auto names = enum_names(T{});
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i] != text) continue;
      value = static_cast<T>(i);
      return true;
    }
    return false;
  } else {
    return parse(text, value);
  }
}

}  // namespace aotc::text_value
