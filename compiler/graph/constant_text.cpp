// SPDX-License-Identifier: Apache-2.0
#include "graph/constant_text.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstring>

#include "support/text.h"

namespace aotc::graph {

namespace {

// Constants of up to this many elements are printed as values, longer ones as hexadecimal bytes.
constexpr size_t kMaxListElements = 16;
constexpr size_t kHexBytesPerLine = 40;

std::string print_double(double value) {
  char buffer[40];
  auto done = std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, done.ptr};
}

// One element as text that parse reads back to the same bytes; empty when there is none.
std::string print_element(DType type, const ConstantView& constant, int64_t i) {
  switch (type) {
    case DType::kBool: {
      uint8_t byte = constant.get<uint8_t>(i);
      return byte > 1 ? "" : attribute_text::print(byte == 1);
    }
    case DType::kI4:
    case DType::kI8: return std::to_string(constant.get<int8_t>(i));
    case DType::kU8: return std::to_string(constant.get<uint8_t>(i));
    case DType::kI16: return std::to_string(constant.get<int16_t>(i));
    case DType::kU16: return std::to_string(constant.get<uint16_t>(i));
    case DType::kI32: return std::to_string(constant.get<int32_t>(i));
    case DType::kU32: return std::to_string(constant.get<uint32_t>(i));
    case DType::kI64: return std::to_string(constant.get<int64_t>(i));
    case DType::kF32: return attribute_text::print(constant.get<float>(i));
    case DType::kF64: {
      double value = constant.get<double>(i);
      return std::isnan(value) ? "" : print_double(value);
    }
  }
  return "";
}

// "[1, 2, 3]", or empty when the constant is too long or holds bytes a list cannot express.
std::string print_list(DType type, const ConstantView& constant) {
  size_t width = static_cast<size_t>(size_of(type));
  size_t count = constant.bytes.size() / width;
  if (constant.bytes.size() % width != 0 || count > kMaxListElements) return "";
  std::string out = "[";
  for (size_t i = 0; i < count; ++i) {
    std::string element = print_element(type, constant, static_cast<int64_t>(i));
    if (element.empty()) return "";
    if (i > 0) out += ", ";
    out += element;
  }
  return out + "]";
}

std::string print_hex(std::span<const uint8_t> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out = "hex {";
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i % kHexBytesPerLine == 0) out += "\n    ";
    out += kDigits[bytes[i] >> 4];
    out += kDigits[bytes[i] & 15];
  }
  return out + "\n  }";
}

template <typename T>
void append_bytes(std::vector<uint8_t>& bytes, T value) {
  size_t at = bytes.size();
  bytes.resize(at + sizeof(T));
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string print_constant(DType type, const ConstantView& constant, int64_t limit) {
  if (static_cast<int64_t>(constant.bytes.size()) > limit) {
    std::string_view bytes(reinterpret_cast<const char*>(constant.bytes.data()), constant.bytes.size());
    return fmt::format("hash {:016x} of {} bytes", stable_hash(bytes), constant.bytes.size());
  }
  std::string list = print_list(type, constant);
  return list.empty() ? print_hex(constant.bytes) : list;
}

bool append_element(std::vector<uint8_t>& bytes, DType type, std::string_view text) {
  if (type == DType::kF32) {
    float value = 0;
    if (!attribute_text::parse(text, value)) return false;
    append_bytes(bytes, value);
    return true;
  }
  if (type == DType::kF64) {
    double value = 0;
    if (!parse_number(text, value)) return false;
    append_bytes(bytes, value);
    return true;
  }
  int64_t value = 0;
  if (type == DType::kBool) {
    bool truth = false;
    if (!attribute_text::parse(text, truth)) return false;
    value = truth ? 1 : 0;
  } else if (!parse_number(text, value)) {
    return false;
  }
  IntRange range = int_range(type);
  if (value < range.min || value > range.max) return false;
  uint64_t bits = static_cast<uint64_t>(value);
  for (int i = 0; i < size_of(type); ++i) bytes.push_back(static_cast<uint8_t>(bits >> (8 * i)));
  return true;
}

bool append_hex(std::vector<uint8_t>& bytes, std::string_view digits) {
  int high = -1;
  for (char c : digits) {
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') continue;
    int digit = hex_digit(c);
    if (digit < 0) return false;
    if (high >= 0) bytes.push_back(static_cast<uint8_t>(high * 16 + digit));
    high = high >= 0 ? -1 : digit;
  }
  return high < 0;
}

}  // namespace aotc::graph
