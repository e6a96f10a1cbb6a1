// SPDX-License-Identifier: Apache-2.0
// Headers of the C library for Clang, so that sources compile on machines without a C library. They have the
// declarations of the C standard, and those for AVR's program memory that emitted C uses.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace aotc::analyze {

// Pairs of a header's name ("avr/pgmspace.h") and its zero-terminated text.
const std::vector<std::pair<const char*, std::string_view>>& c_library_headers();

}  // namespace aotc::analyze
