// SPDX-License-Identifier: Apache-2.0
// CRC-32 as Ethernet, zip and PNG have it: reflected 0x04C11DB7, from all ones, inverted in the end.
#pragma once

#include <cstdint>
#include <span>

namespace aotc {

// Of what `before` is the checksum of (of nothing it is 0) and then these bytes.
uint32_t crc32(std::span<const uint8_t> bytes, uint32_t before = 0);

}  // namespace aotc
