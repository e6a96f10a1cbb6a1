// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/dsp/assembly.h"
#include "cores/arm/plain_thumb.h"
#include "cores/arm/quads.h"
#include "ops/common/quad_kernel.h"

namespace aotc::cores::arm {

namespace {

using ops::QuadKernel;

class QuadWriter {
 public:
  explicit QuadWriter(const tir::Kernel& kernel)
      : words_(parameter(kernel, "words")),
        group_(parameter(kernel, "group")),
        same_(parameter(kernel, "same") != 0),
        sign_(parameter(kernel, "sign") != 0) {}

  // r0 stream, r1 x, r2 out, r3 starts.
  Implementation run() {
    Label tile = a_.label(), group = a_.label();
    a_.enter(kTotals + totals());
    static_assert(QuadKernel::kTiles == 0 && QuadKernel::kDepth == 1 && QuadKernel::kShift == 2 &&
                  QuadKernel::kMultiplier == 3 && QuadKernel::kOffset == 4 && QuadKernel::kSign == 5);
    a_.ldm_after(r0, {r4, r5, r6, r7, r8, r9});
    a_.add(r5, r5, r1);
    a_.stm(sp, {r1, r2, r3, r4, r5, r6, r7, r8, r9});
    a_.bind(tile);
    begin_totals();
    a_.mov(kMask, 0x00FF00FF);
    a_.ldr(kX, sp, kRow);
    a_.ldr(kStart, sp, kStarts);
    a_.bind(group);
    a_.ldrd_after(even(0), odd(0), kStart, 8);
    if (words_ == 2) {
      a_.mov(even(1), even(0));
      a_.mov(odd(1), odd(0));
    }
    steps();
    end_group();
    a_.ldr(r12, sp, kRowEnd);
    a_.cmp(kX, r12);
    a_.b("ne", group);
    take_apart();
    rests();
    outputs();
    a_.ldr(r4, sp, kTiles);
    a_.subs(r4, r4, 1);
    a_.str(r4, sp, kTiles);
    a_.b("ne", tile);
    a_.leave();
    return a_.finish();
  }

 private:
  // Frame.
  static constexpr int kRow = 0, kOut = 4, kStarts = 8, kTiles = 12, kRowEnd = 16, kShift = 20, kMultiplier = 24,
                       kSign = 32, kTotals = 36;
  static constexpr Reg kStream = r0, kX = r1, kTo = r1, kStart = r2, kMask = r3, kOwn = r12, kTemp = lr;

  static Reg even(int word) { return {4 + 2 * word}; }
  static Reg odd(int word) { return {5 + 2 * word}; }
  int totals() const { return 16 * words_; }

  void begin_totals() {
    a_.add(lr, sp, kTotals);
    for (Reg r : {r4, r5, r6, r7}) a_.mov(r, 0);
    for (int w = 0; w < words_; ++w) a_.stm_after(lr, {r4, r5, r6, r7});
  }

  // Units 2 and 3 of a word are still in the totals of 0 and 1.
  void take_apart() {
    a_.add(lr, sp, kTotals);
    words_ == 2 ? a_.ldm(lr, {r4, r5, r6, r7, r8, r9, r10, r11}) : a_.ldm(lr, {r4, r5, r6, r7});
    for (int w = 0; w < words_; ++w)
      for (int u = 4 * w + 4; u < 4 * w + 6; ++u) a_.sub_lsl({u}, {u}, {u + 2}, 16);
    words_ == 2 ? a_.stm(lr, {r4, r5, r6, r7, r8, r9, r10, r11}) : a_.stm(lr, {r4, r5, r6, r7});
  }

  // Weights that were cut; lr: the totals.
  void rests() {
    Label rest = a_.label(), none = a_.label();
    a_.ldr_after(r4, kStream, 4);
    a_.cmp(r4, 0);
    a_.b("eq", none);
    a_.add(r4, r4, kStream);
    a_.ldr(r6, sp, kRow);
    a_.bind(rest);
    a_.ldr_after(r7, kStream, 4);
    a_.lsr(r8, r7, 16);
    a_.ldrsb_index(r8, r6, r8);
    a_.sbfx(r9, r7, 8);
    a_.uxth(r7, r7);
    a_.lsr(r7, r7, 8);
    a_.ldr_index(r10, lr, r7);
    a_.mla(r10, r8, r9, r10);
    a_.str_index(r10, lr, r7);
    a_.cmp(kStream, r4);
    a_.b("ne", rest);
    a_.bind(none);
  }

  // As many as make four words, and what is left.
  void steps() {
    const int at_once = 4 / words_;
    a_.repeat(group_ / at_once, [&] { some_steps(at_once); });
    some_steps(group_ % at_once);
  }

  void some_steps(int count) {
    switch (count * words_) {
      case 4: a_.ldm_after(kStream, {r8, r9, r10, r11}); break;
      case 3: a_.ldm_after(kStream, {r8, r9, r10}); break;
      case 2: a_.ldm_after(kStream, {r8, r9}); break;
      case 1: a_.ldr_after(r8, kStream, 4); break;
      default: break;
    }
    for (int i = 0; i < count; ++i) {
      a_.ldrsb_after(kOwn, kX, 1);
      for (int w = 0; w < words_; ++w) {
        const Reg word = {8 + i * words_ + w};
        a_.and_(kTemp, word, kMask);
        a_.mla(even(w), kTemp, kOwn, even(w));
        a_.asr(word, word, 8);
        a_.mla(odd(w), word, kOwn, odd(w));
      }
    }
  }

  void end_group() {
    a_.add(lr, sp, kTotals);
    for (int w = 0; w < words_; ++w) {
      a_.ldm(lr, {r8, r9, r10, r11});
      a_.asr(r12, even(w), 16);
      a_.add(r8, r8, even(w));
      a_.add(r10, r10, r12);
      a_.sub_lsl(odd(w), odd(w), r12, 8);
      a_.add(r9, r9, odd(w));
      a_.add_asr(r11, r11, odd(w), 16);
      a_.stm_after(lr, {r8, r9, r10, r11});
    }
  }

  void outputs() {
    Label word = a_.label();
    a_.ldr(kTo, sp, kOut);
    a_.add(r2, sp, kTotals);
    if (same_) a_.ldrd(r12, lr, sp, kMultiplier);  // and the offset
    a_.ldr(r3, sp, kShift);
    if (words_ > 1) a_.bind(word);
    a_.ldm_after(r2, {r4, r5, r6, r7});
    if (same_) a_.ldm_after(kStream, {r8, r9, r10, r11});
    for (int u = 0; u < 4; ++u) same_ ? output({4 + u}, {8 + u}) : output_by_line({4 + u});
    if (words_ > 1) {
      a_.add(r8, sp, kTotals + totals());
      a_.cmp(r2, r8);
      a_.b("ne", word);
    }
    a_.str(kTo, sp, kOut);
  }

  void output(Reg x, Reg bias) {
    a_.add_lsl(x, bias, x, QuadKernel::kLeft);
    if (sign_) {
      a_.ldr(r3, sp, kSign);
      a_.and_asr(r3, r3, x, 31);
    }
    a_.smull(bias, x, x, r12);
    a_.add(x, x, lr);
    if (sign_) a_.sub(x, x, r3);
    if (sign_) a_.ldr(r3, sp, kShift);
    store(x);
  }

  void store(Reg x) {
    a_.asr(x, x, r3);
    a_.ssat(x, 8, x, 0);
    a_.strb_after(x, kTo, 1);
  }

  void output_by_line(Reg x) {
    sign_ ? a_.ldm_after(kStream, {r8, r9, r10, r11}) : a_.ldm_after(kStream, {r8, r9, r10});
    a_.add_lsl(x, r8, x, QuadKernel::kLeft);
    if (sign_) a_.and_asr(r11, r11, x, 31);
    a_.smull(r8, x, x, r9);
    a_.add(x, x, r10);
    if (sign_) a_.sub(x, x, r11);
    store(x);
  }

  PlainThumb a_;
  int words_, group_;
  bool same_, sign_;
};

}  // namespace

Implementation quads_thumb2(const tir::Kernel& kernel) { return QuadWriter(kernel).run(); }

}  // namespace aotc::cores::arm
