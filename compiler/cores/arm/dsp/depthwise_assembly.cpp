// SPDX-License-Identifier: Apache-2.0
// The copy of a channel into a plane of halfwords, and what the assembly of 3 x 3 depthwise kernels shares. The kernel
// that reads the plane is generated (cores/arm/generated/dsp_column.cpp).
#include "cores/arm/dsp/assembly.h"
#include "cores/arm/dsp/depthwise_kernels.h"
#include "cores/arm/dsp/depthwise_lines.h"

namespace aotc::cores::arm {

namespace {

// `count` (1 to 4) elements from `from`, r4 bytes apart, to the plane; its last store moves the
// plane's pointer by `extra` more.
void copy_elements(Thumb& a, Reg from, int count, int extra) {
  a.ldrsb(r8, from);
  if (count > 1) a.ldrsb_index(r9, from, r4);
  if (count > 2) a.ldrsb_index(r10, from, r4, 1);
  if (count > 3) a.ldrsb_index(r11, from, r6);
  if (count > 1) a.pkhbt(r8, r8, r9);
  if (count > 3) a.pkhbt(r10, r10, r11);
  if (count == 1) a.strh_after(r8, r1, 2 + extra);
  if (count == 2) a.str_after(r8, r1, 4 + extra);
  if (count == 3) {
    a.str_after(r8, r1, 4);
    a.strh_after(r10, r1, 2 + extra);
  }
  if (count == 4) a.strd_after(r8, r10, r1, 8 + extra);
}

}  // namespace

// r0 x, r1 plane, r2 shape, r3 rows. Rows of the plane begin at words.
Implementation dw_plane(const tir::Kernel& kernel) {
  int columns = parameter(kernel, "columns");
  int skip = 2 * parameter(kernel, "pitch") - 2 * columns;
  Thumb a;
  Label row = a.label(), chunk = a.label();
  a.note("On entry r0: a channel of the image, r1: plane, r2: shape, r3: rows. Bytes become halfwords.");
  a.enter(0);
  a.ldrd(r4, r5, r2, DepthwisePairs::kPixel * 4);  // and bytes from row to row
  a.add_lsl(r6, r4, r4, 1);
  a.bind(row);
  int chunks = (columns - 1) / 4, rest = columns - 4 * chunks;  // 1 to 4 are left
  Reg from = chunks > 0 ? r12 : r0;
  if (columns == 5) {
    a.ldrsb_index(r12, r0, r4, 2);
    copy_elements(a, r0, 4, 0);
    a.strh_after(r12, r1, 2 + skip);
    rest = 0;
  } else if (chunks == 1) {
    copy_elements(a, r0, 4, 0);
    a.add_lsl(r12, r0, r4, 2);
  } else if (chunks > 1) {
    a.mov(r12, r0);
    int twice = chunks / 2;
    if (twice > 1) a.mov(r7, twice);
    if (twice > 1) a.bind(chunk);
    for (int i = 0; i < 2; ++i) {
      copy_elements(a, r12, 4, 0);
      a.add_lsl(r12, r12, r4, 2);
    }
    if (twice > 1) a.subs(r7, r7, 1);
    if (twice > 1) a.b("ne", chunk);
    if (chunks % 2 == 1) {
      copy_elements(a, r12, 4, 0);
      a.add_lsl(r12, r12, r4, 2);
    }
  }
  if (rest > 0) copy_elements(a, from, rest, skip);
  a.add(r0, r0, r5);
  a.subs(r3, r3, 1);
  a.b("ne", row);
  a.leave();
  return a.finish();
}

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
  constexpr int kTwoAdditions = 1 << 20;
  const int size = bytes < 0 ? -bytes : bytes, high = size & ~kMostOffset;
  if (high > 0 && size < kTwoAdditions) {
    move_by(a, r, bytes < 0 ? -(size - high) : size - high, temp);
    bytes < 0 ? a.sub(r, r, high) : a.add(r, r, high);
  } else if (high > 0) {
    a.mov32(temp, static_cast<uint32_t>(bytes));
    a.add(r, r, temp);
  } else if (bytes > 0) {
    a.add(r, r, bytes);
  } else if (bytes < 0) {
    a.sub(r, r, -bytes);
  }
}

}  // namespace aotc::cores::arm
