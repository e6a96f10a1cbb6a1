// SPDX-License-Identifier: Apache-2.0
// Size limits of every graph, whichever frontend reads it.
#pragma once

#include <cstdint>

namespace aotc::graph {

// Bytes of a program's tables. The C text takes about five bytes for each byte of a table, and aotc holds it in memory.
// The check against the flash of a board is separate.
inline constexpr int64_t kMostConstantBytes = int64_t{128} << 20;

}  // namespace aotc::graph
