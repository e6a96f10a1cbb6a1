// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/values.h"

#include <cstdlib>
#include <cstring>

namespace aotc::frontends::onnx {

namespace {

constexpr size_t kMostDepth = 8;

struct ListParser {
  const std::string& text;
  DType type;
  size_t at = 0;
  graph::Shape shape;  // by depth, -1 until the first list of the depth ends
  std::vector<uint8_t> bytes;
  std::optional<size_t> depth;  // of numbers

  void skip() {
    while (at < text.size() && std::strchr(" \t\n,", text[at]) != nullptr) ++at;
  }

  bool number() {
    std::string word;
    while (at < text.size() && std::strchr(" \t\n,[]", text[at]) == nullptr) word += text[at++];
    if (word == "true" || word == "True") word = "1";
    if (word == "false" || word == "False") word = "0";
    if (word.empty()) return false;
    char* end = nullptr;
    if (type == DType::kF32) {
      float value = std::strtof(word.c_str(), &end);
      const auto* raw = reinterpret_cast<const uint8_t*>(&value);
      bytes.insert(bytes.end(), raw, raw + 4);
      return *end == '\0';
    }
    errno = 0;
    int64_t value = std::strtoll(word.c_str(), &end, 10);
    IntRange range = type == DType::kBool ? IntRange{0, 1} : int_range(type);
    if (*end != '\0' || errno != 0 || value < range.min || value > range.max) return false;
    for (int i = 0; i < size_of(type); ++i)
      bytes.push_back(static_cast<uint8_t>(static_cast<uint64_t>(value) >> (8 * i)));
    return true;
  }

  bool element(size_t level) {
    skip();
    if (at >= text.size() || level > kMostDepth) return false;
    if (text[at] != '[') {
      if (depth && *depth != level) return false;
      depth = level;
      return number();
    }
    ++at;
    if (shape.size() <= level) shape.resize(level + 1, -1);
    int64_t count = 0;
    for (skip(); at < text.size() && text[at] != ']'; skip(), ++count)
      if (!element(level + 1)) return false;
    if (at >= text.size() || (shape[level] >= 0 && shape[level] != count)) return false;
    ++at;
    shape[level] = count;
    return true;
  }
};

}  // namespace

std::optional<GivenValue> parse_value(const std::string& text, DType type, const std::optional<graph::Shape>& shape) {
  ListParser parser{text, type, 0, {}, {}, std::nullopt};
  if (!parser.element(0)) return std::nullopt;
  parser.skip();
  if (parser.at != text.size()) return std::nullopt;
  // A list that ended before it had a depth has no elements below.
  for (int64_t& d : parser.shape)
    if (d < 0) d = 0;
  if (parser.depth && *parser.depth != parser.shape.size()) return std::nullopt;
  GivenValue out;
  out.type.dtype = type;
  out.type.shape = parser.shape;
  if (shape) {
    if (graph::element_count(*shape) != graph::element_count(parser.shape)) return std::nullopt;
    out.type.shape = *shape;
  }
  out.bytes = std::move(parser.bytes);
  return out;
}

}  // namespace aotc::frontends::onnx
