// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/dsp/depthwise_lines.h"

namespace aotc::cores::arm {

void DepthwiseLines::unpack_bytes() {
  a_.lsl(r3, r10, 8);
  a_.and_(r3, r3, kHighBytes);
  a_.and_(r4, r10, kHighBytes);
  a_.lsl(r5, r11, 8);
  a_.and_(r5, r5, kHighBytes);
  a_.and_(r6, r11, kHighBytes);
}

void DepthwiseLines::load_column(Reg from, int offset, int row, Reg temp) {
  a_.ldrsb(kPair, from, offset);
  a_.ldrsb(temp, from, offset + row);
  a_.ldrsb(kSingle, from, offset + 2 * row);
  a_.pkhbt(kPair, kPair, temp);
}

void DepthwiseLines::add_line(int line, Reg to, Reg from) {
  a_.smlad(to, kPair, weights(line), from);
  if (line == 1) {
    a_.smlabt(to, kSingle, kThird, to);
  } else {
    a_.smlabb(to, kSingle, line == 0 ? kThird : kLast, to);
  }
}

void move_by(Thumb& a, Reg r, int bytes, Reg temp) {
  if (bytes > kMostOffset || bytes < -kMostOffset) {
    a.mov32(temp, static_cast<uint32_t>(bytes));
    a.add(r, r, temp);
  } else if (bytes > 0) {
    a.add(r, r, bytes);
  } else if (bytes < 0) {
    a.sub(r, r, -bytes);
  }
}

}  // namespace aotc::cores::arm
