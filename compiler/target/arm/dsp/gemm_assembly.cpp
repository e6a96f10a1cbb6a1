// SPDX-License-Identifier: Apache-2.0
// Matrix products with SMLAD. A word of the weight stream holds two taps of two channels: each
// halfword is 256 * b + a. SXTB16 of it gives the pair of taps of channel a; the word itself gives
// 256 * sum b + sum a, from which one subtraction takes channel b, scaled as its requantisation
// wants it. That is one extension for eight multiplications.
#include <array>
#include <cstdlib>

#include <fmt/format.h>

#include "target/arm/dsp/assembly.h"
#include "target/arm/dsp/gemm.h"
#include "target/arm/dsp/gemv_frame.h"
#include "target/arm/thumb.h"

namespace aotc::target::arm {

int parameter(const tir::Kernel& kernel, std::string_view name) {
  for (const auto& [key, value] : kernel.parameters)
    if (key == name) return static_cast<int>(value);
  std::abort();
}

void requantize(Thumb& a, Reg acc, Reg multiplier, Reg offset, int shift, const Reg* sign, Reg temp, bool same) {
  if (shift == 0) {
    a.round_even(acc, multiplier, offset, same);
    return;
  }
  if (sign) {
    a.and_asr(temp, *sign, acc, 31);
    a.sub(temp, offset, temp);
    a.smmla(acc, acc, multiplier, temp);
  } else {
    a.smmla(acc, acc, multiplier, offset);
  }
  a.ssat(acc, 8, acc, shift);
}

void requantize_by_line(Thumb& a, Reg acc, Reg first, Reg second, int shift, bool sign) {
  if (sign) {
    a.ldr(first, sp, RequantizeLine::kSign);
    a.and_asr(first, first, acc, 31);
    a.ldr(second, sp, RequantizeLine::kOffset);
    a.sub(second, second, first);
    a.ldr(first, sp, RequantizeLine::kMultiplier);
  } else {
    a.ldrd(first, second, sp, RequantizeLine::kMultiplier);
  }
  requantize(a, acc, first, second, shift, nullptr, second);
}

namespace {

class GemmWriter {
 public:
  // `words`: the weight stream has a word for each of the two channels of a step. `sums`: accumulators
  // begin as 0 and are written as they are.
  GemmWriter(int pixels, int shift, bool sign, bool words, bool sums)
      : pixels_(pixels), shift_(shift), sign_(sign), words_(words), sums_(sums),
        triple_(pixels == 3 && !words && !sums) {}

  Implementation run() {
    Label pair = a_.label(), body = a_.label();
    a_.note(fmt::format("On entry r0: weights, r1: panel of {} pixels, r2: out, r3: shape.", pixels_));
    a_.enter(triple_ ? 32 : 24);
    a_.note("On the stack from sp: panel, its end, where the unrolled body is entered, out, its stride, end of weights.");
    prologue(body);
    a_.note(fmt::format("For every pair of channels a, b. r0: panel, r1: weights, r2 to r{}: sums of a and b of each pixel.",
                        1 + 2 * pixels_));
    a_.bind(pair);
    // The biases wait in the accumulators that the first step writes last.
    if (sums_) {
      for (int c : {0, 1}) a_.mov(acc(pixels_ - 1, c), 0);
    } else {
      a_.ldrd_after(acc(pixels_ - 1, 0), acc(pixels_ - 1, 1), r1, 8);
    }
    a_.note("The first step adds to the biases; then into the body, as many steps from its end as are left over.");
    step(true);
    if (triple_) {
      a_.note("The body is entered behind its load of three words of weights, of which the first may be of no use.");
      a_.ldr(r12, sp, kBack);
      a_.sub(r1, r1, r12);
      a_.ldm_after(r1, {r8, r9, r10});
    }
    a_.jump(sp, kEntry);
    a_.bind(body);
    a_.note(words_ ? "A step: two taps of two channels, a word of weights for each."
                   : "A step: two taps of two channels. A word of weights has 256 * b + a in each half.");
    if (triple_) {
      a_.repeat(PairGemm::kTripleUnroll, [&] { three_steps(); });
    } else {
      a_.repeat(words_ ? PairGemm::kWordsUnroll : PairGemm::kUnroll, [&] { step(false); });
    }
    a_.ldr(r12, sp, kPanelEnd);
    a_.cmp(r0, r12);
    a_.b("ne", body);
    a_.note(sums_ ? "The sums are the results." : "Requantise: multiply, add the offset, shift, saturate; store.");
    sums_ ? finish_sums() : finish_pair();
    a_.ldr(r0, sp, kStreamEnd);
    a_.cmp(r1, r0);
    a_.ldr(r0, sp, kPanel);
    a_.b("ne", pair);
    a_.leave();
    return a_.finish();
  }

 private:
  static constexpr int kPanel = 0, kPanelEnd = 4, kEntry = 8, kOut = 12, kStride = 16,
                       kStreamEnd = 20, kBack = 24;
  static Reg acc(int pixel, int channel) { return {2 + 2 * pixel + channel}; }
  // Four pixels leave four registers beside the accumulators and two pointers, fewer leave more.
  Reg word() const { return pixels_ == 4 ? r10 : r8; }
  Reg extended() const { return pixels_ == 4 ? r11 : r9; }

  // r0 weights, r1 panel, r2 out, r3 shape. Leaves r0 panel, r1 weights.
  void prologue(Label body) {
    a_.ldrd(r4, r5, r3, PairGemm::kShapePanelBytes * 4);  // and the stream's bytes
    a_.add(r4, r4, r1);
    a_.strd(r1, r4, sp, kPanel);
    a_.add(r5, r5, r0);
    a_.str(r5, sp, kStreamEnd);
    a_.ldr(r6, r3, PairGemm::kShapeEntry * 4);
    a_.adr(r7, body);
    a_.add(r6, r6, r7);
    a_.str(r6, sp, kEntry);
    a_.ldr(r7, r3, PairGemm::kShapeStride * 4);
    a_.strd(r2, r7, sp, kOut);
    if (triple_) {
      a_.ldr(r6, r3, PairGemm::kShapeBack * 4);
      a_.str(r6, sp, kBack);
    }
    a_.mov(r12, r0);
    a_.mov(r0, r1);
    a_.mov(r1, r12);
  }

  // Every instruction here is 4 bytes, as in step.
  void three_steps() {
    a_.ldm_after(r1, {r8, r9, r10});
    for (int i = 0; i < 3; ++i) {
      const Reg w = {8 + i};
      const Reg x[] = {r11, r12, lr};
      a_.ldm_after(r0, {r11, r12, lr});
      for (int p = 0; p < 3; ++p) a_.smlad(acc(p, 1), x[p], w, acc(p, 1));
      a_.sxtb16(w, w);
      for (int p = 0; p < 3; ++p) a_.smlad(acc(p, 0), x[p], w, acc(p, 0));
    }
  }

  // Every instruction here is 4 bytes: the entry into the unrolled body counts on it.
  void step(bool first) {
    if (words_) {
      a_.ldrd_after(word(), extended(), r1, 8);
    } else {
      a_.ldr_after(word(), r1, 4);
      a_.sxtb16(extended(), word());
    }
    if (pixels_ == 4) {
      for (int p = 0; p < 4; p += 2) {
        a_.ldrd_after(r12, lr, r0, 8);
        multiply(p, r12, first);
        multiply(p + 1, lr, first);
      }
      return;
    }
    if (pixels_ == 3) a_.ldm_after(r0, {r10, r11, r12});
    if (pixels_ == 2) a_.ldrd_after(r10, r11, r0, 8);
    if (pixels_ == 1) a_.ldr_after(r10, r0, 4);
    for (int p = 0; p < pixels_; ++p) multiply(p, {10 + p}, first);
  }

  void multiply(int pixel, Reg x, bool first) {
    int from = first ? pixels_ - 1 : pixel;
    a_.smlad(acc(pixel, 0), x, words_ ? word() : extended(), acc(from, 0));
    a_.smlad(acc(pixel, 1), x, words_ ? extended() : word(), acc(from, 1));
  }

  void finish_pair() {
    for (int p = 0; p < pixels_ && !words_; ++p) a_.sub(acc(p, 1), acc(p, 1), acc(p, 0));
    for (int c = 0; c < 2; ++c) {
      if (sign_) {
        a_.ldm_after(r1, {r10, r11, r12});
      } else {
        a_.ldrd_after(r10, r11, r1, 8);
      }
      Reg sign = r12;
      for (int p = 0; p < pixels_; ++p) {
        if (c == 0 && !words_) a_.lsl(acc(p, 0), acc(p, 0), 8);
        requantize(a_, acc(p, c), r10, r11, shift_, sign_ ? &sign : nullptr, lr, p > 0);
      }
    }
    a_.ldrd(r0, r10, sp, kOut);  // and the stride
    a_.add(r11, r0, 2);
    a_.str(r11, sp, kOut);
    for (int p = 0; p < pixels_; ++p) a_.bfi(acc(p, 0), acc(p, 1), 8, 8);
    a_.strh(acc(0, 0), r0);
    if (pixels_ > 1) a_.strh_index(acc(1, 0), r0, r10);
    if (pixels_ > 2) a_.strh_index(acc(2, 0), r0, r10, 1);
    if (pixels_ < 4) return;
    a_.add(r0, r0, r10);
    a_.strh_index(acc(3, 0), r0, r10, 1);
  }

  void finish_sums() {
    a_.ldrd(r0, r10, sp, kOut);  // and the stride
    a_.add(r11, r0, 8);
    a_.str(r11, sp, kOut);
    for (int p = 0; p < pixels_; ++p) {
      a_.sub(acc(p, 1), acc(p, 1), acc(p, 0));
      a_.asr(acc(p, 1), acc(p, 1), 8);
      a_.strd(acc(p, 0), acc(p, 1), r0);
      if (p + 1 < pixels_) a_.add(r0, r0, r10);
    }
  }

  Thumb a_;
  int pixels_, shift_;
  bool sign_, words_, sums_, triple_;
};

// One pixel, four pairs of channels: the accumulators are r2 to r9, channel 2 * pair + c. `sums`: they
// begin as 0 and are written as they are.
class GemvWriter {
 public:
  GemvWriter(int shift, bool sign, bool sums) : shift_(shift), sign_(sign), sums_(sums) {}

  Implementation run() {
    Label group = a_.label(), body = a_.label();
    a_.note("On entry r0: weights, r1: panel of one pixel, r2: out, r3: shape.");
    a_.enter(GemvFrame::kBytes);
    a_.note("On the stack from sp: panel, its end, where the unrolled body is entered, out, end of weights.");
    begin_gemv(a_, body);
    a_.note("For every eight channels. r0: panel, r1: weights, r2 to r9: their sums.");
    a_.bind(group);
    for (int c = 0; c < 8 && sums_; ++c) a_.mov(acc(c), 0);
    for (int pair = 0; pair < 4 && !sums_; ++pair)
      a_.ldrd_after(acc(2 * pair), acc(2 * pair + 1), r1, 8);
    a_.jump(sp, GemvFrame::kEntry);
    a_.bind(body);
    a_.note("A step: four taps of eight channels. A word of weights has 256 * b + a in each half.");
    a_.repeat(PairGemm::kGemvUnroll, [&] { step(); });
    a_.ldr(r12, sp, GemvFrame::kPixelEnd);
    a_.cmp(r0, r12);
    a_.b("ne", body);
    a_.note(sums_ ? "The sums are the results." : "Requantise: multiply, add the offset, shift, saturate; store.");
    sums_ ? finish_sums() : finish_group();
    end_gemv(a_, group);
    return a_.finish();
  }

 private:
  static Reg acc(int channel) { return {2 + channel}; }

  // Two words of the panel at a time. Every instruction is 4 bytes.
  void step() {
    a_.ldrd_after(r10, r11, r0, 8);
    for (Reg x : {r10, r11})
      for (int half = 0; half < 2; ++half) {
        a_.ldrd_after(r12, lr, r1, 8);
        int first = 4 * half;
        int at = first;
        for (Reg w : {r12, lr}) {
          a_.smlad(acc(at + 1), x, w, acc(at + 1));
          a_.sxtb16(w, w);
          a_.smlad(acc(at), x, w, acc(at));
          at += 2;
        }
      }
  }

  void finish_group() {
    a_.ldr(r0, sp, GemvFrame::kOut);
    Reg sign = r12;
    for (int channel = 0; channel < 8; ++channel) {
      if (channel % 2 == 0) a_.sub(acc(channel + 1), acc(channel + 1), acc(channel));
      if (channel % 2 == 0) a_.lsl(acc(channel), acc(channel), 8);
      if (sign_) {
        a_.ldm_after(r1, {r10, r11, r12});
      } else {
        a_.ldrd_after(r10, r11, r1, 8);
      }
      requantize(a_, acc(channel), r10, r11, shift_, sign_ ? &sign : nullptr, lr);
      a_.strb_after(acc(channel), r0, 1);
    }
    a_.str(r0, sp, GemvFrame::kOut);
  }

  void finish_sums() {
    a_.ldr(r0, sp, GemvFrame::kOut);
    for (int b = 1; b < 8; b += 2) {
      a_.sub(acc(b), acc(b), acc(b - 1));
      a_.asr(acc(b), acc(b), 8);
    }
    a_.stm_after(r0, {r2, r3, r4, r5, r6, r7, r8, r9});
    a_.str(r0, sp, GemvFrame::kOut);
  }

  Thumb a_;
  int shift_;
  bool sign_, sums_;
};

// One pixel, four channels over words: a step of the body takes four words of the panel.
class GemvWordsWriter {
 public:
  GemvWordsWriter(int shift, bool sign) : shift_(shift), sign_(sign) {}

  Implementation run() {
    Label group = a_.label(), body = a_.label();
    a_.note("On entry r0: weights, r1: panel of one pixel, r2: out, r3: shape.");
    a_.enter(GemvFrame::kBytes);
    a_.note("On the stack from sp: panel, its end, where the unrolled body is entered, out, end of weights.");
    begin_gemv(a_, body);
    a_.note("For every four channels. r0: panel, r1: weights, r2 to r5: their sums, from the biases on.");
    a_.bind(group);
    a_.ldm_after(r1, {r2, r3, r4, r5});
    a_.jump(sp, GemvFrame::kEntry);
    a_.bind(body);
    a_.repeat(PairGemm::kWordsGemvUnroll, [&] { step(); });
    a_.ldr(r12, sp, GemvFrame::kPixelEnd);
    a_.cmp(r0, r12);
    a_.b("ne", body);
    finish_group();
    end_gemv(a_, group);
    return a_.finish();
  }

 private:
  static Reg acc(int channel) { return {2 + channel}; }

  // Every instruction is 4 bytes.
  void step() {
    a_.ldm_after(r0, {r6, r7, r8, r9});
    for (Reg x : {r6, r7, r8, r9}) {
      a_.ldm_after(r1, {r10, r11, r12, lr});
      int channel = 0;
      for (Reg w : {r10, r11, r12, lr}) {
        a_.smlad(acc(channel), x, w, acc(channel));
        ++channel;
      }
    }
  }

  void finish_group() {
    a_.ldr(r0, sp, GemvFrame::kOut);
    if (!sign_) a_.ldm_after(r1, {r6, r7, r8, r9, r10, r11, r12, lr});
    constexpr Reg kLines[] = {r6, r7, r8, r9, r10, r11, r12, lr};
    for (int c = 0; c < 4; ++c) {
      Reg sign = r12;
      if (sign_) a_.ldm_after(r1, {r10, r11, r12});
      requantize(a_, acc(c), sign_ ? r10 : kLines[2 * c], sign_ ? r11 : kLines[2 * c + 1], shift_,
                 sign_ ? &sign : nullptr, lr);
      a_.strb_after(acc(c), r0, 1);
    }
    a_.str(r0, sp, GemvFrame::kOut);
  }

  Thumb a_;
  int shift_;
  bool sign_;
};

}  // namespace

Implementation gemv_words(const tir::Kernel& kernel) {
  return GemvWordsWriter(parameter(kernel, "shift"), parameter(kernel, "sign") != 0).run();
}

Implementation gemm_pairs(const tir::Kernel& kernel) {
  return GemmWriter(parameter(kernel, "pixels"), parameter(kernel, "shift"),
                    parameter(kernel, "sign") != 0, false, false)
      .run();
}

Implementation gemm_sums(const tir::Kernel& kernel) {
  return GemmWriter(parameter(kernel, "pixels"), 0, false, false, true).run();
}

Implementation gemm_words(const tir::Kernel& kernel) {
  return GemmWriter(parameter(kernel, "pixels"), parameter(kernel, "shift"),
                    parameter(kernel, "sign") != 0, true, false)
      .run();
}

Implementation gemv_pairs(const tir::Kernel& kernel) {
  return GemvWriter(parameter(kernel, "shift"), parameter(kernel, "sign") != 0, false).run();
}

Implementation gemv_sums(const tir::Kernel&) { return GemvWriter(0, false, true).run(); }

Implementation end_packing(Thumb& a, Label word, Label row) {
  a.subs(r7, r7, 1);
  a.b("ne", word);
  a.add(r0, r0, r5);
  a.subs(r4, r4, 1);
  a.b("ne", row);
  a.leave();
  return a.finish();
}

// r0 x, r1 panel, r2 shape.
Implementation pack_pixels(const tir::Kernel& kernel) {
  int pixels = parameter(kernel, "pixels");
  Thumb a;
  Label row = a.label(), word = a.label();
  const std::array<Reg, 4> x = {r8, r9, r10, r11};
  a.note("On entry r0: x, r1: panel, r2: shape. Four bytes of each pixel become two words: bytes 0 and 2, 1 and 3.");
  a.enter(0);
  a.ldr(r3, r2, PairGemm::kPackPixelStride * 4);
  a.ldrd(r4, r5, r2, PairGemm::kPackRows * 4);  // and the bytes from one row's end to the next's begin
  a.ldr(r2, r2, PairGemm::kPackWords * 4);
  a.add_lsl(r6, r3, r3, 1);  // of the fourth pixel
  a.bind(row);
  a.mov(r7, r2);
  a.bind(word);
  if (pixels > 1) a.ldr_index(x[1], r0, r3);
  if (pixels > 2) a.ldr_index(x[2], r0, r3, 1);
  if (pixels > 3) a.ldr_index(x[3], r0, r6);
  a.ldr_after(x[0], r0, 4);
  for (int p = 0; p + 1 < pixels; p += 2) {
    a.sxtb16(r12, x[static_cast<size_t>(p)]);
    a.sxtb16(lr, x[static_cast<size_t>(p) + 1]);
    a.strd_after(r12, lr, r1, 8);
  }
  if (pixels % 2 == 1) {
    a.sxtb16(r12, x[static_cast<size_t>(pixels) - 1]);
    a.str_after(r12, r1, 4);
  }
  for (int p = 0; p < pixels; ++p) a.sxtb16(x[static_cast<size_t>(p)], x[static_cast<size_t>(p)], 8);
  if (pixels == 4) a.stm_after(r1, {r8, r9, r10, r11});
  if (pixels == 3) a.stm_after(r1, {r8, r9, r10});
  if (pixels == 2) a.strd_after(r8, r9, r1, 8);
  if (pixels == 1) a.str_after(r8, r1, 4);
  return end_packing(a, word, row);
}

// r0 x, r1 panel, r2 shape.
Implementation pack_pixel(const tir::Kernel& kernel) {
  const int step = 4 * parameter(kernel, "pixels");
  Thumb a;
  Label row = a.label(), word = a.label();
  a.note("On entry r0: x, r1: a pixel of the panel, r2: shape. Four bytes become two words: bytes 0 and 2, 1 and 3.");
  a.enter(0);
  a.ldrd(r4, r5, r2, PairGemm::kPackRows * 4);  // and the bytes from one row's end to the next's begin
  a.ldr(r2, r2, PairGemm::kPackWords * 4);
  a.bind(row);
  a.mov(r7, r2);
  a.bind(word);
  a.ldr_after(r3, r0, 4);
  a.sxtb16(r12, r3);
  a.sxtb16(r3, r3, 8);
  a.str_after(r12, r1, step);
  a.str_after(r3, r1, step);
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
  Label loop = a.label();
  a.note("On entry r0: x, r1: panel, r2: rows, r3: bits of a word that are outside, at its begin or (negative) its end.");
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
  Label word = a.label();
  a.bind(word);
  a.ldr_after(r3, r0, 4);
  a.sxtb16(r12, r3);
  a.sxtb16(r3, r3, 8);
  a.str_after(r12, r1, stride);
  a.str_after(r3, r1, stride);
  a.subs(r2, r2, 1);
  a.b("ne", word);
  return a.finish();
}

}  // namespace aotc::target::arm
