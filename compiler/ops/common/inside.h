// SPDX-License-Identifier: Apache-2.0
// Conditions on an index of a window's axis that ask nothing that is known: analysers report what is always true.
#pragma once

#include "ops/common/window.h"
#include "tir/builder.h"

namespace aotc::ops {

// Both of two conditions; a constant one is decided here.
inline tir::Ex both(const tir::Ex& a, const tir::Ex& b) {
  int64_t known = 0;
  if (a.is_imm(&known)) return known != 0 ? b : tir::Ex(0);
  if (b.is_imm(&known)) return known != 0 ? a : tir::Ex(0);
  return a && b;
}

// Is `index` in [range.low, range.high]? It is in [0, count).
inline tir::Ex lies_in(const tir::Ex& index, const WindowAxis::Range& range, int64_t count) {
  if (range.low == range.high && count > 1) return index == range.low;
  return both(range.low <= 0 ? tir::Ex(1) : index >= range.low,
              range.high >= count - 1 ? tir::Ex(1) : index <= range.high);
}

}  // namespace aotc::ops
