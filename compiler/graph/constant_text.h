// SPDX-License-Identifier: Apache-2.0
// Prints and parses constants of the IRs' text form: short constants as lists of values, others as hexadecimal bytes.
// Both forms preserve the bytes exactly, NaN payloads included.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace aotc::graph {

// Parses the whole text as a number of type T. If the text is not such a number, returns false and leaves `value`
// undefined.
template <typename T>
bool parse_number(std::string_view text, T& value) {
  const char* end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end && !text.empty();
}

// Returns "[1, 2, 3]", or "hex {...}" over several lines, or "hash ..." if the constant has more than `limit` bytes.
std::string print_constant(DType type, const ConstantView& constant, int64_t limit);

// Appends one element of a list; false if the text does not fit the type.
bool append_element(std::vector<uint8_t>& bytes, DType type, std::string_view text);

// Appends one byte for each pair of hexadecimal digits; ignores white space. False if the text has other characters.
bool append_hex(std::vector<uint8_t>& bytes, std::string_view digits);

}  // namespace aotc::graph
