// SPDX-License-Identifier: Apache-2.0
#include "graph/attributes.h"

#include <bit>
#include <charconv>
#include <cmath>

namespace aotc::graph::attribute_text {

namespace {

constexpr char kHexDigits[] = "0123456789abcdef";
constexpr uint32_t kQuietNan = 0x7fc00000u;

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\n')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\n')) text.remove_suffix(1);
  return text;
}

template <typename T, typename... Format>
bool parse_whole(std::string_view text, T& value, Format... format) {
  const char* end = text.data() + text.size();
  T parsed{};
  auto [stop, error] = std::from_chars(text.data(), end, parsed, format...);
  if (error != std::errc() || stop != end || text.empty()) return false;
  value = parsed;
  return true;
}

}  // namespace

std::string print(bool value) { return value ? "true" : "false"; }

std::string print(int64_t value) { return std::to_string(value); }

std::string print(float value) {
  char buffer[32];
  if (std::isnan(value)) {
    uint32_t bits = std::bit_cast<uint32_t>(value);
    if (bits == kQuietNan) return "nan";
    auto done = std::to_chars(buffer, buffer + sizeof buffer, bits, 16);
    return "nan(0x" + std::string(buffer, done.ptr) + ")";
  }
  auto done = std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, done.ptr};
}

std::string print(const std::string& value) {
  std::string out = "\"";
  for (char c : value) {
    unsigned char u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (u < 0x20 || u >= 0x7F) {
      out += "\\x";
      out += kHexDigits[u >> 4];
      out += kHexDigits[u & 15];
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string print(const std::vector<int64_t>& value) {
  std::string out = "[";
  for (size_t i = 0; i < value.size(); ++i) {
    if (i > 0) out += ", ";
    out += print(value[i]);
  }
  return out + "]";
}

std::string print(DType value) { return std::string(name_of(value)); }

bool parse(std::string_view text, bool& value) {
  if (text != "true" && text != "false") return false;
  value = text == "true";
  return true;
}

bool parse(std::string_view text, int64_t& value) { return parse_whole(text, value); }
bool parse(std::string_view text, int32_t& value) { return parse_whole(text, value); }

bool parse(std::string_view text, float& value) {
  if (text == "nan") {
    value = std::bit_cast<float>(kQuietNan);
    return true;
  }
  if (text.starts_with("nan(0x") && text.ends_with(")")) {
    uint32_t bits = 0;
    if (!parse_whole(text.substr(6, text.size() - 7), bits, 16)) return false;
    float parsed = std::bit_cast<float>(bits);
    if (!std::isnan(parsed)) return false;
    value = parsed;
    return true;
  }
  // from_chars would also take "INF", "infinity" and "nan(...)"; one spelling of each is enough.
  if (text.find_first_of("nNyY") != std::string_view::npos && text != "inf" && text != "-inf") return false;
  return parse_whole(text, value, std::chars_format::general);
}

bool parse(std::string_view text, std::string& value) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return false;
  text = text.substr(1, text.size() - 2);
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '"') return false;
    if (c != '\\') {
      out += c;
      continue;
    }
    if (++i == text.size()) return false;
    if (text[i] == '"' || text[i] == '\\') {
      out += text[i];
      continue;
    }
    if (text[i] != 'x' || i + 2 >= text.size()) return false;
    int high = hex_value(text[i + 1]);
    int low = hex_value(text[i + 2]);
    if (high < 0 || low < 0) return false;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  value = std::move(out);
  return true;
}

bool parse(std::string_view text, std::vector<int64_t>& value) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return false;
  text = trim(text.substr(1, text.size() - 2));
  std::vector<int64_t> out;
  while (!text.empty()) {
    size_t comma = text.find(',');
    int64_t element = 0;
    if (!parse(trim(text.substr(0, comma)), element)) return false;
    out.push_back(element);
    if (comma == std::string_view::npos) break;
    text = text.substr(comma + 1);
    if (trim(text).empty()) return false;
  }
  value = std::move(out);
  return true;
}

bool parse(std::string_view text, DType& value) {
  auto parsed = dtype_from_name(text);
  if (parsed) value = *parsed;
  return parsed.has_value();
}

}  // namespace aotc::graph::attribute_text
