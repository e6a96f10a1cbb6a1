// SPDX-License-Identifier: Apache-2.0
// Declarations of the C library, so that sources compile where none is installed: those of the C standard, and the
// parts of AVR's program memory that the emitted C uses.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace aotc::analyze {

// Name ("avr/pgmspace.h") and zero-terminated text.
const std::vector<std::pair<const char*, std::string_view>>& c_library_headers();

}  // namespace aotc::analyze
