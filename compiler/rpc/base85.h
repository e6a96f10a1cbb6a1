// SPDX-License-Identifier: Apache-2.0
// Converts bytes to base 85 and back, with the alphabet and padding of Python's base64.b85encode.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace aotc::rpc {

std::string base85_encode(std::span<const uint8_t> bytes);
// nullopt if the text is not a valid encoding.
std::optional<std::vector<uint8_t>> base85_decode(std::string_view text);

}  // namespace aotc::rpc
