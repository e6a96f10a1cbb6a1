// SPDX-License-Identifier: Apache-2.0
// The size limit of every model, in any format.
#pragma once

#include <cstdint>

namespace aotc::graph {

// Limit on the bytes of all constant tables of a model. aotc holds the emitted C text in memory, and the text takes
// about five bytes for each byte of a table. Another check compares the tables with the flash of the board.
inline constexpr int64_t kMostConstantBytes = int64_t{128} << 20;

}  // namespace aotc::graph
