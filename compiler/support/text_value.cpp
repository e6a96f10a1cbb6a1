// SPDX-License-Identifier: Apache-2.0
#include "support/text_value.h"

#include <bit>
#include <cmath>

#include <fmt/format.h>

namespace aotc::text_value {

namespace {

constexpr uint32_t kQuietNan = 0x7fc00000u;

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\n')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\n')) text.remove_suffix(1);
  return text;
}

}  // namespace

std::string print(bool value) { return value ? "true" : "false"; }

std::string print(int64_t value) { return std::to_string(value); }

std::string print(float value) {
  if (std::isnan(value)) {
    const auto bits = std::bit_cast<uint32_t>(value);
    return bits == kQuietNan ? "nan" : fmt::format("nan(0x{:x})", bits);
  }
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

std::string print(const std::string& value) {
  std::string out = "\"";
  for (char c : value) {
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else {
      out += c < 0x20 || c >= 0x7F ? escape(c) : std::string(1, c);
    }
  }
  return out + '"';
}

std::string print(const std::vector<int64_t>& value) { return fmt::format("[{}]", fmt::join(value, ", ")); }

std::string print(DType value) { return std::string(name_of(value)); }

bool parse(std::string_view text, bool& value) {
  if (text != "true" && text != "false") return false;
  value = text == "true";
  return true;
}

bool parse(std::string_view text, float& value) {
  uint32_t bits = kQuietNan;
  if (text.starts_with("nan(0x") && text.ends_with(")")) {
    if (!parse_number(text.substr(6, text.size() - 7), bits, 16) || !std::isnan(std::bit_cast<float>(bits)))
      return false;
  } else if (text != "nan") {
    // from_chars also reads "INF", "infinity" and "nan(...)"; a value has one spelling.
    if (text.find_first_of("nNyY") != std::string_view::npos && text != "inf" && text != "-inf") return false;
    return parse_number(text, value, std::chars_format::general);
  }
  value = std::bit_cast<float>(bits);
  return true;
}

bool parse(std::string_view text, std::string& value) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return false;
  text = text.substr(1, text.size() - 2);
  std::string out;
  while (!text.empty()) {
    size_t length = 1;
    if (const int byte = escaped_byte(text); byte >= 0) {
      out += static_cast<char>(byte);
      length = 4;
    } else if (text.starts_with("\\\"") || text.starts_with("\\\\")) {
      out += text[1];
      length = 2;
    } else if (text[0] == '"' || text[0] == '\\') {
      return false;
    } else {
      out += text[0];
    }
    text.remove_prefix(length);
  }
  value = std::move(out);
  return true;
}

bool parse(std::string_view text, std::vector<int64_t>& value) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return false;
  std::vector<int64_t> out;
  if (!parse_numbers(text.substr(1, text.size() - 2), ',', out)) return false;
  value = std::move(out);
  return true;
}

bool parse(std::string_view text, DType& value) {
  auto parsed = dtype_from_name(text);
  if (parsed) value = *parsed;
  return parsed.has_value();
}

bool parse_numbers(std::string_view text, char separator, std::vector<int64_t>& numbers) {
  for (size_t from = 0; from <= text.size() && !trim(text).empty();) {
    const size_t end = std::min(text.find(separator, from), text.size());
    if (!parse(trim(text.substr(from, end - from)), numbers.emplace_back())) return false;
    from = end + 1;
  }
  return true;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string escape(char byte) { return fmt::format("\\x{:02x}", static_cast<unsigned char>(byte)); }

int escaped_byte(std::string_view text) {
  if (text.size() < 4 || !text.starts_with("\\x") || hex_digit(text[2]) < 0 || hex_digit(text[3]) < 0) return -1;
  return hex_digit(text[2]) * 16 + hex_digit(text[3]);
}

}  // namespace aotc::text_value
