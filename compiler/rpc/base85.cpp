// SPDX-License-Identifier: Apache-2.0
#include "rpc/base85.h"

#include <algorithm>

namespace aotc::rpc {

namespace {

constexpr std::string_view kDigits =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
static_assert(kDigits.size() == 85);

}  // namespace

// Four bytes are five digits; of a last group of n bytes n + 1 digits are written.
std::string base85_encode(std::span<const uint8_t> bytes) {
  std::string out;
  for (size_t at = 0; at < bytes.size(); at += 4) {
    const size_t count = std::min<size_t>(4, bytes.size() - at);
    uint32_t group = 0;
    for (size_t i = 0; i < 4; ++i) group = group << 8 | (i < count ? bytes[at + i] : 0u);
    char digits[5];
    for (int i = 4; i >= 0; --i) {
      digits[i] = kDigits[group % 85];
      group /= 85;
    }
    out.append(digits, count + 1);
  }
  return out;
}

std::optional<std::vector<uint8_t>> base85_decode(std::string_view text) {
  std::vector<uint8_t> out;
  for (size_t at = 0; at < text.size(); at += 5) {
    const size_t count = std::min<size_t>(5, text.size() - at);
    if (count == 1) return std::nullopt;
    uint64_t group = 0;
    for (size_t i = 0; i < 5; ++i) {
      // Missing digits are the highest, so that rounding takes nothing from the bytes before.
      const size_t digit = i < count ? kDigits.find(text[at + i]) : 84;
      if (digit == std::string_view::npos) return std::nullopt;
      group = group * 85 + digit;
    }
    if (group > UINT32_MAX) return std::nullopt;
    for (size_t i = 0; i + 1 < count; ++i) out.push_back(static_cast<uint8_t>(group >> (24 - 8 * i)));
  }
  return out;
}

}  // namespace aotc::rpc
