// SPDX-License-Identifier: Apache-2.0
// What no graph may be larger than, whoever reads or plans it.
#pragma once

#include <cstdint>

namespace aotc::graph {

// Bytes of a program's tables: more than any microcontroller holds. A damaged or absurd model must not take hours to print.
inline constexpr int64_t kMostConstantBytes = int64_t{32} << 20;

}  // namespace aotc::graph
