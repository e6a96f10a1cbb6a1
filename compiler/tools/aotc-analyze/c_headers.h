// SPDX-License-Identifier: Apache-2.0
// Declarations of the C library, so that sources compile where none is installed. The one thing to know:
// they say no more than the C standard does, plus what the emitted C wants of AVR's program memory.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace aotc::analyze {

// Name ("avr/pgmspace.h") and text, which ends with a 0.
const std::vector<std::pair<const char*, std::string_view>>& c_library_headers();

}  // namespace aotc::analyze
