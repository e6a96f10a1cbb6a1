// SPDX-License-Identifier: Apache-2.0
// CRC-32 of Ethernet, zip and PNG: reflected polynomial 0x04C11DB7, initial value all ones, final inversion.
#pragma once

#include <cstdint>
#include <span>

namespace aotc {

// Continues a checksum: `before` is the CRC-32 of the preceding bytes, 0 if there are none.
uint32_t crc32(std::span<const uint8_t> bytes, uint32_t before = 0);

}  // namespace aotc
