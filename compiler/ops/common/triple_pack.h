// SPDX-License-Identifier: Apache-2.0
// A microkernel that fills the panel of products of three pixels in two words (triple_gemm.h): the same rows of three
// windows, some of which may be padding. Cores that have it in assembly name its family (TripleText::pack).
#pragma once

#include <string_view>
#include <vector>

#include "ops/common/triple_gemm.h"

namespace aotc::ops {

struct TriplePack {
  // Words of the table that a call takes: where the pixels' first elements are, -1 for one that is padding in all of
  // these rows; from a row to the next, elements of a row, rows, and bytes of the panel from the end of a row to the next.
  enum Table { kFirst, kPitch = kFirst + TripleGemm::kPixels, kCount, kRows, kSkip, kTableWords };

  std::string_view family;  // what the core's text is found by
  int64_t unroll = 1;       // elements that are written out; a row is a multiple

  // The largest number of elements, up to `most`, that rows of multiples of `elements` can have written out.
  static int64_t unroll_for(int64_t elements, int64_t most);
  // (x, blank, panel, table); `blank` has as many elements of padding as a row.
  tir::KernelPtr kernel() const;
  // Of pixels that are `distance` apart, from the address on that a call gives.
  static std::vector<int32_t> table(int64_t distance, int64_t pitch, int64_t count, int64_t rows);
};

}  // namespace aotc::ops
