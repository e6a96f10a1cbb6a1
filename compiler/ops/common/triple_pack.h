// SPDX-License-Identifier: Apache-2.0
// A microkernel that fills the panel of products of three pixels in two words (triple_gemm.h): the same rows of three
// windows, some of which may be padding. Cores that have it in assembly name its family (TripleText::pack).
#pragma once

#include <string_view>
#include <vector>

#include "ops/common/triple_gemm.h"
#include "ops/common/window.h"

namespace aotc::ops {

struct TriplePack {
  // Words of the table that a call takes: where the pixels' first elements are, -1 for one that is padding in all of
  // these rows; from a row to the next, elements of a row, rows, and bytes of the panel from the end of a row to the
  // next.
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

// The same for windows that reach beyond the image: rectangles of their rows and columns, in each of which every window
// is in the image or padding. A kernel without assembly, which all convolutions share: it makes those of a strip of
// rows.
struct TripleStrip {
  // Words of the geometry: of each axis, and then the channels.
  enum Axis { kIn, kOut, kKernel, kStride, kPad, kAxisWords };
  static constexpr int64_t kChannels = 2 * kAxisWords;  // y, then x
  // Words of a list: the row behind the strip, how many rectangles it has, and these, each a table of TriplePack and
  // behind it the word of the panel where it begins.
  enum List { kNextRow, kCount, kRectangles };
  static constexpr int64_t kPlace = TriplePack::kTableWords, kRectangleWords = kPlace + 1;
  static constexpr int64_t kMostRectangles = 2 * TripleGemm::kPixels + 1;
  static constexpr int64_t kListWords = kRectangles + kMostRectangles * kRectangleWords;

  static std::vector<int32_t> geometry(const WindowAxis& y, const WindowAxis& x, int64_t channels);
  // (list, geometry, first pixel, first row)
  static tir::KernelPtr kernel();
};

}  // namespace aotc::ops
