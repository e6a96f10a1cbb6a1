// SPDX-License-Identifier: Apache-2.0
// What no graph may be larger than, whoever reads or plans it.
#pragma once

#include <cstdint>

namespace aotc::graph {

// Bytes of a program's tables. A table takes about five bytes of C for each of its own, and aotc holds them in memory;
// whether the tables fit a board, its flash says.
inline constexpr int64_t kMostConstantBytes = int64_t{128} << 20;

}  // namespace aotc::graph
