// SPDX-License-Identifier: Apache-2.0
// What the assembly of 3 x 3 depthwise kernels has in common. A window is taken line by line, rows or columns: two
// elements of a line are the halves of one register and the third is in another, and so are their weights. The one
// thing to know: all of them keep these in the same registers.
#pragma once

#include "cores/arm/thumb.h"

namespace aotc::cores::arm {

class DepthwiseLines {
 protected:
  // Of the halves of a word.
  static constexpr int kHighBytes = static_cast<int>(0xFF00FF00);
  static constexpr Reg kThird = r6, kLast = r7, kPair = r11, kSingle = r12;
  // Elements 0 and 1 of a line's weights. Element 2 of lines 0 and 1 are the halves of kThird, that of line 2 the lower
  // half of kLast.
  static Reg weights(int line) { return {3 + line}; }

  // weights() and kThird, times 256, from the words r10 and r11 of dw_stream.
  void unpack_bytes();
  // The column of three rows `row` bytes apart whose first element is at [from, #offset]; changes `temp`.
  void load_column(Reg from, int offset, int row, Reg temp);
  // to = from + the line that is loaded times the weights of line `line`.
  void add_line(int line, Reg to, Reg from);

  Thumb a_;
};

// r moves by so many bytes; changes `temp` where no instruction reaches as far.
void move_by(Thumb& a, Reg r, int bytes, Reg temp);
// How far instructions reach from a register: loads and stores with an offset, and additions.
inline constexpr int kMostOffset = 4095;

}  // namespace aotc::cores::arm
