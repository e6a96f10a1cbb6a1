// SPDX-License-Identifier: Apache-2.0
// TextReader: base class of parsers of the IRs' text forms. It reads strings, numbers, tensor types and constants, and
// reports errors with their location. Each function reports its error when it fails; the parser must then stop.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "graph/constant_text.h"
#include "graph/graph.h"
#include "graph/text_cursor.h"

namespace aotc::graph {

class TextReader {
 protected:
  // Errors have the slug `slug`.
  TextReader(std::string_view text, const std::string& file, const char* slug, Diagnostics& diags)
      : cursor_(text), file_(file), slug_(slug), diags_(diags) {}

  Failure fail_at(TextPosition at, std::string message, std::string help = "");
  // Completes the message "expected X" to "expected X, found Y".
  Failure fail(const std::string& message);
  Status expect(char punctuation);
  static std::string shown(std::string_view text);
  Location location_of(TextPosition at) const;

  Result<std::string> parse_string(const char* what);

  template <typename T>
  Result<T> parse_int(const char* what) {
    TextPosition at = cursor_.position();
    std::string_view text = cursor_.scalar();
    T value = 0;
    if (text.empty()) return fail(fmt::format("expected {}", what));
    if (!parse_number(text, value)) return fail_at(at, fmt::format("expected {}, found '{}'", what, shown(text)));
    return value;
  }

  // i8[1x2x3] quant(...)
  Status parse_type(TensorType& type);
  // [1x2x3]
  Status parse_shape(Shape& shape);
  // "= [1, 2]" or "= hex {0102}"
  Status parse_value(DType type, std::vector<uint8_t>& bytes);
  // [1, 2]
  Status parse_list(std::vector<uint8_t>& bytes, DType type);

  TextCursor cursor_;
  const std::string& file_;

 private:
  Status parse_quantization(Quantization& q);
  Status parse_float(float& value);
  Status parse_hex(std::vector<uint8_t>& bytes);

  const char* slug_;
  Diagnostics& diags_;
};

}  // namespace aotc::graph
