// SPDX-License-Identifier: Apache-2.0
#include "frontends/tflite/flex_options.h"

#include <cstring>
#include <limits>
#include <optional>
#include <span>

#include <fmt/format.h>

namespace aotc::frontends {

namespace {

using FlexValue = std::variant<std::monostate, int64_t, double>;
using FlexValues = std::map<std::string, FlexValue>;

// Types as the format numbers them; a byte holds one above two bits for the width.
enum FlexType : uint8_t { kFlexInt = 1, kFlexUint = 2, kFlexFloat = 3, kFlexMap = 9, kFlexBool = 26 };
constexpr uint64_t kMostFlexValues = 256;

class FlexReader {
 public:
  explicit FlexReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  // The root's values; nothing unless it is a map that lies within the bytes.
  std::optional<FlexValues> map() const {
    if (bytes_.size() < 3) return std::nullopt;
    const uint64_t root_width = bytes_[bytes_.size() - 1];
    const uint8_t type = bytes_[bytes_.size() - 2];
    if (type >> 2 != kFlexMap || root_width + 2 > bytes_.size()) return std::nullopt;
    auto values = follow(bytes_.size() - 2 - root_width, root_width);
    const uint64_t width = uint64_t{1} << (type & 3);
    if (!values || *values < 3 * width) return std::nullopt;
    auto keys = follow(*values - 3 * width, width);
    auto key_width = number(*values - 2 * width, width), count = number(*values - width, width);
    if (!keys || !key_width || !count || *count > kMostFlexValues) return std::nullopt;
    FlexValues out;
    for (uint64_t i = 0; i < *count; ++i) {
      auto key = text(*keys + i * *key_width, *key_width);
      auto packed = number(*values + *count * width + i, 1);
      if (!key || !packed) return std::nullopt;
      auto found = value(*values + i * width, width, static_cast<uint8_t>(*packed));
      if (!found) return std::nullopt;
      out.emplace(*key, *found);
    }
    return out;
  }

 private:
  std::optional<uint64_t> number(uint64_t at, uint64_t width) const {
    if (width != 1 && width != 2 && width != 4 && width != 8) return std::nullopt;
    if (at > bytes_.size() || bytes_.size() - at < width) return std::nullopt;
    uint64_t out = 0;
    for (uint64_t i = 0; i < width; ++i) out |= uint64_t{bytes_[at + i]} << (8 * i);
    return out;
  }

  // Where the offset at a place leads: to the front.
  std::optional<uint64_t> follow(uint64_t at, uint64_t width) const {
    auto offset = number(at, width);
    if (!offset || *offset > at) return std::nullopt;
    return at - *offset;
  }

  std::optional<std::string> text(uint64_t at, uint64_t width) const {
    auto begin = follow(at, width);
    if (!begin) return std::nullopt;
    const void* end = std::memchr(bytes_.data() + *begin, 0, bytes_.size() - *begin);
    if (end == nullptr) return std::nullopt;
    return std::string(bytes_.data() + *begin, static_cast<const uint8_t*>(end));
  }

  std::optional<FlexValue> value(uint64_t at, uint64_t width, uint8_t packed) const {
    auto raw = number(at, width);
    if (!raw) return std::nullopt;
    switch (packed >> 2) {
      case kFlexInt: {
        const uint64_t unused = 64 - 8 * width;
        return FlexValue(static_cast<int64_t>(*raw << unused) >> unused);
      }
      case kFlexUint:
        if (*raw > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return FlexValue();
        return FlexValue(static_cast<int64_t>(*raw));
      case kFlexBool: return FlexValue(int64_t{*raw != 0});
      case kFlexFloat: return real(*raw, width);
      default: return FlexValue();
    }
  }

  static std::optional<FlexValue> real(uint64_t raw, uint64_t width) {
    if (width == 8) {
      double out = 0;
      std::memcpy(&out, &raw, sizeof out);
      return FlexValue(out);
    }
    if (width != 4) return FlexValue();
    const auto low = static_cast<uint32_t>(raw);
    float out = 0;
    std::memcpy(&out, &low, sizeof out);
    return FlexValue(static_cast<double>(out));
  }

  std::span<const uint8_t> bytes_;
};

}  // namespace

FlexOptions::FlexOptions(const TfliteOp& from, const graph::Op& op, Diagnostics& diags) : op_(op), diags_(diags) {
  auto values = FlexReader(from.custom_options()).map();
  good_ = values.has_value();
  if (good_) values_ = std::move(*values);
  else bad("the custom options are not a FlexBuffer map");
}

bool FlexOptions::bad(const std::string& message) {
  diags_.error(op_.location, "op-attribute", message)
      .help("the file may be damaged, or made for another version of this operator");
  return false;
}

bool FlexOptions::integer(const char* name, int64_t least, int64_t most, int64_t& out) {
  if (!good_) return false;
  auto found = values_.find(name);
  if (found == values_.end()) return bad(fmt::format("the custom options have no '{}'", name));
  const auto* value = std::get_if<int64_t>(&found->second);
  if (value == nullptr) return bad(fmt::format("option '{}' is not an integer", name));
  out = *value;
  if (out >= least && out <= most) return true;
  return bad(fmt::format("option '{}' is {}, but must be from {} to {}", name, out, least, most));
}

std::optional<std::variant<int64_t, double>> FlexOptions::number(const std::string& name) const {
  auto found = values_.find(name);
  if (found == values_.end()) return std::nullopt;
  if (const auto* whole = std::get_if<int64_t>(&found->second)) return *whole;
  if (const auto* real = std::get_if<double>(&found->second)) return *real;
  return std::nullopt;
}

bool FlexOptions::read(const char* name, int32_t& out) {
  int64_t value = 0;
  if (!integer(name, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max(), value)) return false;
  out = static_cast<int32_t>(value);
  return true;
}

bool FlexOptions::read(const char* name, bool& out) {
  int32_t value = 0;
  if (!read(name, value)) return false;
  out = value != 0;
  return true;
}

bool FlexOptions::read(const char* name, float& out) {
  if (!good_) return false;
  if (!has(name)) return bad(fmt::format("the custom options have no '{}'", name));
  const auto value = number(name);
  if (!value) return bad(fmt::format("option '{}' is not a number", name));
  out = std::visit([](auto v) { return static_cast<float>(v); }, *value);
  return true;
}

}  // namespace aotc::frontends
