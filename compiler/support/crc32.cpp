// SPDX-License-Identifier: Apache-2.0
#include "support/crc32.h"

#include <array>

namespace aotc {

static std::array<uint32_t, 256> crc_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? (crc >> 1) ^ 0xEDB88320u : crc >> 1;
    table[i] = crc;
  }
  return table;
}

uint32_t crc32(std::span<const uint8_t> bytes, uint32_t before) {
  static const std::array<uint32_t, 256> table = crc_table();
  uint32_t crc = ~before;
  for (uint8_t b : bytes) crc = (crc >> 8) ^ table[(crc ^ b) & 0xFF];
  return ~crc;
}

}  // namespace aotc
