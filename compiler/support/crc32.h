// SPDX-License-Identifier: Apache-2.0
// Computes the CRC-32 of Ethernet, zip and PNG: reflected polynomial 0x04C11DB7, initial value all ones, final
// inversion.
#pragma once

#include <cstdint>
#include <span>

namespace aotc {

// Returns the CRC-32 of `bytes`. To continue a checksum, set `before` to the CRC-32 of the preceding bytes.
uint32_t crc32(std::span<const uint8_t> bytes, uint32_t before = 0);

}  // namespace aotc
