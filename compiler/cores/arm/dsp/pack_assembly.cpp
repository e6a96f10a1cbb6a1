// SPDX-License-Identifier: Apache-2.0
// What fills the panels of matrix products (cores/arm/dsp/gemm.h).
#include <array>

#include "cores/arm/dsp/assembly.h"
#include "cores/arm/dsp/gemm.h"
#include "cores/arm/thumb.h"

namespace aotc::cores::arm {

Implementation end_packing(Thumb& a, Label word, Label row) {
  a.subs(r7, r7, 1);
  a.b("ne", word);
  a.add(r0, r0, r5);
  a.subs(r4, r4, 1);
  a.b("ne", row);
  a.leave();
  return a.finish();
}

void load_pixels(Thumb& a, int pixels, Reg stride) {
  a.at_any_address();
  if (pixels > 1) a.ldr_index(r9, r0, stride);
  if (pixels > 2) a.ldr_index(r10, r0, stride, 1);
  if (pixels > 3) a.ldr_index(r11, r0, r6);
  a.ldr_after(r8, r0, 4);
}

void store_pixels(Thumb& a, int pixels) {
  if (pixels == 4) a.stm_after(r1, {r8, r9, r10, r11});
  if (pixels == 3) a.stm_after(r1, {r8, r9, r10});
  if (pixels == 2) a.strd_after(r8, r9, r1, 8);
  if (pixels == 1) a.str_after(r8, r1, 4);
}

namespace {

// r2: bytes between pixels, r3: words, r4: rows, r5: bytes from one row's end to the next's begin.
void load_shape(Thumb& a) {
  static_assert(PairGemm::kPackPixelStride == 0 && PairGemm::kPackWords == 1 && PairGemm::kPackRows == 2 &&
                PairGemm::kPackRowSkip == 3);
  a.ldm(r2, {r2, r3, r4, r5});
}

}  // namespace

namespace {

// Two pixels, `written` words of each at a time. Stores of single words take a cycle, each.
Implementation pack_two(int written) {
  Thumb a;
  Label row = a.label(), words = a.label();
  a.note("On entry r0: x, r1: panel, r2: shape. Four bytes of each pixel become two words: bytes 0 and 2, 1 and 3.");
  a.enter(0);
  load_shape(a);
  if (written > 1) a.lsr(r3, r3, written == 4 ? 2 : 1);
  a.bind(row);
  a.mov(r7, r3);
  a.bind(words);
  a.repeat(written, [&] {
    load_pixels(a, 2, r2);
    a.sxtb16(r12, r8);
    a.sxtb16(lr, r9);
    a.sxtb16(r8, r8, 8);
    a.sxtb16(r9, r9, 8);
    for (Reg stored : {r12, lr, r8, r9}) a.str_after(stored, r1, 4);
  });
  return end_packing(a, words, row);
}

}  // namespace

// r0 x, r1 panel, r2 shape.
Implementation pack_pixels(const tir::Kernel& kernel) {
  int pixels = parameter(kernel, "pixels");
  if (has_parameter(kernel, "written")) return pack_two(parameter(kernel, "written"));
  Thumb a;
  Label row = a.label(), word = a.label();
  const std::array<Reg, 4> x = {r8, r9, r10, r11};
  a.note("On entry r0: x, r1: panel, r2: shape. Four bytes of each pixel become two words: bytes 0 and 2, 1 and 3.");
  a.enter(0);
  load_shape(a);
  if (pixels > 3) a.add_lsl(r6, r2, r2, 1);
  a.bind(row);
  a.mov(r7, r3);
  a.bind(word);
  load_pixels(a, pixels, r2);
  for (int p = 0; p + 1 < pixels; p += 2) {
    a.sxtb16(r12, x[static_cast<size_t>(p)]);
    a.sxtb16(lr, x[static_cast<size_t>(p) + 1]);
    for (Reg stored : {r12, lr}) a.str_after(stored, r1, 4);  // a cycle less than STRD on a Cortex-M4
  }
  if (pixels % 2 == 1) {
    a.sxtb16(r12, x[static_cast<size_t>(pixels) - 1]);
    a.str_after(r12, r1, 4);
  }
  for (int p = 0; p < pixels; ++p) a.sxtb16(x[static_cast<size_t>(p)], x[static_cast<size_t>(p)], 8);
  store_pixels(a, pixels);
  return end_packing(a, word, row);
}

// r0 x, r1 panel, r2 shape.
Implementation pack_pixel(const tir::Kernel& kernel) {
  const int step = 4 * parameter(kernel, "pixels");
  Thumb a;
  a.at_any_address();
  Label row = a.label(), word = a.label();
  a.note("On entry r0: x, r1: a pixel of the panel, r2: shape. Four bytes become two words: bytes 0 and 2, 1 and 3.");
  a.enter(0);
  load_shape(a);
  a.bind(row);
  a.mov(r7, r3);
  a.bind(word);
  a.ldr_after(r2, r0, 4);
  a.sxtb16(r12, r2);
  a.sxtb16(r2, r2, 8);
  a.str_after(r12, r1, step);
  a.str_after(r2, r1, step);
  return end_packing(a, word, row);
}

// r0 x, r1 panel, r2 rows, r3 shift.
Implementation pack_edge(const tir::Kernel& kernel) {
  const int step = 4 * parameter(kernel, "pixels"), row = parameter(kernel, "row");
  const int panel_row = step * parameter(kernel, "steps");
  constexpr int kMostAfter = 255, kMostAdd = 4095;
  const uint32_t zero = static_cast<uint8_t>(parameter(kernel, "zero")) * 0x01010101u;
  const Reg left = r4, right = r5, outside = r6, word = r7, next = r8;
  Thumb a;
  a.at_any_address();
  Label loop = a.label();
  a.note(
      "On entry r0: x, r1: panel, r2: rows, r3: bits of a word that are outside, at its begin or (negative) its end.");
  a.enter(0);
  a.mov(right, 0);
  a.sub(right, right, r3);
  a.usat(left, 6, r3);
  a.usat(right, 6, right);
  a.mov32(word, zero);
  a.mov(next, 32);
  a.sub(r12, next, left);
  a.lsr(outside, word, r12);
  a.sub(r12, next, right);
  a.lsl(word, word, r12);
  a.orr(outside, outside, word);
  if (row > kMostAdd) a.mov32(next, static_cast<uint32_t>(row));
  a.bind(loop);
  if (row <= kMostAfter) a.ldr_after(word, r0, row);
  if (row > kMostAfter) a.ldr(word, r0);
  if (row > kMostAfter && row <= kMostAdd) a.add(r0, r0, row);
  if (row > kMostAdd) a.add(r0, r0, next);
  a.lsl(word, word, left);
  a.lsr(word, word, right);
  a.orr(word, word, outside);
  a.sxtb16(r12, word, 8);
  a.sxtb16(word, word);
  a.str(r12, r1, step);
  if (panel_row <= kMostAfter) a.str_after(word, r1, panel_row);
  if (panel_row > kMostAfter) a.str(word, r1);
  if (panel_row > kMostAfter) a.add(r1, r1, panel_row);
  a.subs(r2, r2, 1);
  a.b("ne", loop);
  a.leave();
  return a.finish();
}

// r0 x, r1 panel, r2 words: needs no frame.
Implementation pack_run(const tir::Kernel& kernel) {
  int stride = 4 * parameter(kernel, "pixels");
  Thumb a;
  a.at_any_address();
  Label word = a.label();
  a.bind(word);
  a.ldr_after(r3, r0, 4);
  a.sxtb16(r12, r3);
  a.sxtb16(r3, r3, 8);
  if (stride == 4) {
    a.strd_after(r12, r3, r1, 8);
  } else {
    a.str_after(r12, r1, stride);
    a.str_after(r3, r1, stride);
  }
  a.subs(r2, r2, 1);
  a.b("ne", word);
  return a.finish();
}

}  // namespace aotc::cores::arm
