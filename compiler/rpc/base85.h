// SPDX-License-Identifier: Apache-2.0
// Bytes as text in base 85, with the alphabet and padding of Python's base64.b85encode.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace aotc::rpc {

std::string base85_encode(std::span<const uint8_t> bytes);
// Nothing if the text is no such encoding.
std::optional<std::vector<uint8_t>> base85_decode(std::string_view text);

}  // namespace aotc::rpc
